"""Lines of a program, with the ends they have."""

import re


def split_lines(text: str) -> list[str]:
    """Lines with their ends; joined again they are `text`. Only \\n ends a line; a \\r before it stays in the line."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def source_lines(text: str) -> list[str]:
    """Lines without ends, numbered as Python numbers them (\\r alone ends one too; form feeds and U+2028 do not)."""
    lines = re.split(r"\r\n|\r|\n", text)
    return lines[:-1] if lines[-1] == "" else lines


def line_end(text: str) -> str:
    """The line-end form of `text`: CRLF where most lines end so, else LF."""
    return "\r\n" if text.count("\r\n") * 2 > text.count("\n") else "\n"
