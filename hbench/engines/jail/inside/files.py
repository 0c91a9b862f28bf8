"""Files into a workspace and out of it, done with the rights of the commands and no others."""

import base64
import fnmatch
import os
import stat

from . import kernel, wire

_CHUNK = 1 << 18
_TIME = 1_577_836_800  # of the files that are laid: 2020-01-01, so that two rollouts see the same


def as_student(jail, step) -> str:
    """Runs `step` in a child with a command's rights on files: "" or what went wrong."""
    told, tell = os.pipe2(os.O_CLOEXEC)
    pid = os.fork()
    if pid == 0:
        try:
            if jail.user is not None:
                kernel.become(jail.user)
            if jail.own_tree:
                kernel.drop_capabilities()
            step()
        except BaseException as trouble:
            os.write(tell, f"{type(trouble).__name__}: {trouble}".encode("utf-8", "replace")[:1000])
        finally:
            os._exit(0)
    os.close(tell)
    with os.fdopen(told, "rb") as trouble:
        said = trouble.read().decode("utf-8", "replace")
    os.waitpid(pid, 0)
    return said


def lay(folder: str, files: dict[str, str]) -> None:
    """Writes each path -> content (base64) below `folder`. Raises OSError."""
    for path, content in files.items():
        data = base64.b64decode(content)
        place = f"{folder}/{path}"
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(data)
        os.chmod(place, 0o755 if data.startswith(b"#!") else 0o644)
        os.utime(place, (_TIME, _TIME))
    for above, below, _ in os.walk(folder):
        for name in below:
            os.utime(f"{above}/{name}", (_TIME, _TIME))


def send_found(channel: int, folder: str, patterns: list[str], most_bytes: int) -> None:
    """Sends {"file": path, "data": base64} for each regular file that matches, a long one in pieces; then the last word.

    That is {"collected": the number of files}, or {"too_much": most_bytes}. Follows no link.
    """
    found = sorted(path for path in regular_files(folder) if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns))
    room, count = most_bytes, 0
    for path in found:
        try:
            file = os.open(f"{folder}/{path}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue  # not readable even to its owner
        if not stat.S_ISREG(os.fstat(file).st_mode):
            os.close(file)
            continue
        count += 1
        wire.send(channel, {"file": path, "data": ""})
        while data := os.read(file, min(_CHUNK, room + 1)):
            room -= len(data)
            if room < 0:
                return wire.send(channel, {"too_much": most_bytes})
            wire.send(channel, {"file": path, "data": base64.b64encode(data).decode()})
        os.close(file)
    wire.send(channel, {"collected": count})


def regular_files(folder: str):
    """Paths below `folder` of what looks like a regular file and has a name in UTF-8; as deep as a path can be. No links."""
    todo = [""]
    while todo:
        below = todo.pop()
        try:
            entries = list(os.scandir(f"{folder}/{below}"))
        except OSError:
            continue
        for entry in entries:
            path = below + entry.name
            if not _is_text(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                todo.append(path + "/")
            elif entry.is_file(follow_symlinks=False):
                yield path


def _is_text(path: str) -> bool:
    try:
        path.encode()
        return True
    except UnicodeEncodeError:
        return False


def used(folders: list[str], most_files: int) -> tuple[int, int]:
    """(bytes, files) below `folders`; counts no further than `most_files`."""
    total = count = 0
    todo = list(folders)
    while todo and count <= most_files:
        try:
            for entry in os.scandir(todo.pop()):
                count += 1
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
                else:
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return total, count
