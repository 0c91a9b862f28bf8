"""The texts of a folder that somebody else may have filled: regular files alone, no more and no larger than they may be."""

import os
import stat
from pathlib import Path

MOST_FILES, MOST_BYTES = 200, 1 << 20  # in all, folders among them; of each


def texts_in(folder: Path) -> dict[str, str]:
    """path -> text, sorted by path. What starts with a dot and __pycache__ are passed over.

    Raises ValueError, naming the path, for what is a link, no regular file, no UTF-8 text or too large, and for too many.
    """
    found: dict[str, str] = {}
    waiting, met = [""], 0
    while waiting:
        below = waiting.pop()
        for name in _names(folder, below):
            if name.startswith(".") or name == "__pycache__":
                continue
            met += 1
            if met > MOST_FILES:
                raise ValueError(f"there are more than {MOST_FILES} files and folders")
            path = below + name
            if os.path.isdir(folder / path) and not os.path.islink(folder / path):
                waiting.append(f"{path}/")
            else:
                found[path] = text_of(folder / path, path)
    return dict(sorted(found.items()))


def text_of(file: Path, shown: str) -> str:
    """Raises ValueError, as `texts_in` does. shown: what the file is called then."""
    try:
        shown.encode()
        about = file.lstat()
        if not stat.S_ISREG(about.st_mode):
            raise ValueError(f"{shown} is {'a link' if stat.S_ISLNK(about.st_mode) else 'no regular file'}")
        if about.st_size > MOST_BYTES:
            raise ValueError(f"{shown} is larger than {MOST_BYTES} bytes")
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeEncodeError:
        raise ValueError(f"the name {shown!r} is no text") from None
    except UnicodeDecodeError as bad:
        raise ValueError(f"{shown} is not UTF-8 text: {bad}") from None
    except OSError as bad:
        raise ValueError(f"{shown} cannot be read: {bad.strerror}") from None


def _names(folder: Path, below: str) -> list[str]:
    """What lies in `folder`/`below`. Raises ValueError."""
    try:
        if (folder / below).is_symlink():
            raise ValueError(f"{folder.name} is a link")
        return os.listdir(folder / below)
    except OSError as bad:
        raise ValueError(f"{below or folder.name!r} cannot be read: {bad.strerror}") from None
