"""A program of a workspace that is answered outside of it: `NAME ARGUMENT...`, or its standard input without any.

What it says goes through files, not through a socket: a jail without namespaces can let a command reach either every
socket of the machine or none.
"""

import json
import os
import select
import stat
import sys

MOST_BYTES = 1 << 18  # of one call: arguments and standard input


def main(name: str, arguments: list[str]) -> int:
    """Prints the answer, and gives the exit code."""
    stdin = "" if arguments else sys.stdin.buffer.read(MOST_BYTES).decode("utf-8", "replace")
    request = json.dumps({"name": name, "argv": arguments, "stdin": stdin}).encode()
    if len(request) > MOST_BYTES:
        return _trouble(name, f"more than {MOST_BYTES} bytes in one call")
    try:
        os.chdir(os.environ["CALLS"])
        answer = json.loads(_ask(request))
    except (KeyError, OSError, ValueError) as trouble:
        return _trouble(name, f"cannot be reached from here ({trouble!r})")
    text = answer["text"].encode("utf-8", "replace")
    out = sys.stderr.buffer if answer["code"] else sys.stdout.buffer
    out.write(text if text.endswith(b"\n") or not text else text + b"\n")
    out.flush()
    return answer["code"]


def _ask(request: bytes) -> bytes:
    mine = os.urandom(8).hex()
    os.umask(0)
    os.mkfifo(mine + ".answer", 0o666)
    answer = os.open(mine + ".answer", os.O_RDONLY | os.O_NONBLOCK)
    file = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    while request:
        request = request[os.write(file, request) :]
    bell = os.open("bell", os.O_WRONLY | os.O_NONBLOCK)
    if not stat.S_ISFIFO(os.fstat(bell).st_mode):
        raise OSError("no bell")
    os.set_blocking(bell, True)
    os.write(bell, mine.encode() + b"\n")
    said = b""
    while True:
        select.select([answer], [], [])
        part = os.read(answer, 1 << 16)
        if not part:
            os.unlink(mine + ".answer")
            return said
        said += part


def _trouble(name: str, what: str) -> int:
    print(f"{name}: {what}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
