"""When two shell commands do the same: command lines in one form, for the commands of small file jobs."""

import re
import shlex
from dataclasses import dataclass

_LOOKS = frozenset({"cat", "cut", "grep", "head", "ls", "pwd", "sort", "tail", "wc"})
_OPERAND_READERS = frozenset({"awk", "cut", "grep", "head", "sed", "sort", "tail"})  # `x < file` is `x file`
_VALUED = {"cut": "df", "head": "nc", "tail": "nc", "awk": "F"}  # flags that are followed by a value
_ANY_ORDER = {"rm": 0, "mv": 1, "cp": 1}  # all operands but so many at the end


@dataclass(frozen=True, slots=True)
class Unit:
    """What stands between && or ;. pipe: each command with its flags and operands. into: `>` or `>>` and a path."""

    pipe: tuple[tuple[str, ...], ...]
    source: str | None = None
    into: tuple[str, str] | None = None

    @property
    def looks(self) -> bool:
        """Whether it can do nothing but print."""
        return self.into is None and all(command[0] in _LOOKS and "-o" not in command for command in self.pipe)

    @property
    def read(self) -> tuple[str, ...]:
        """The files and folders that a look names."""
        given = [word for command in self.pipe for word in _bare(command)[command[0] == "grep" :]]
        return (*([self.source] if self.source else []), *given)


def units(line: str) -> tuple[Unit, ...] | None:
    """The units of a command line in one form, so that equal units do the same; None for what is not understood.

    None too where the shell would read quotes, variables or wildcards in another way than their words say.
    """
    outside = re.sub(r"'[^']*'", "", line)
    if re.search(r"[$`\\]", outside) or re.search(r"(['\"])[^'\"]*[*?\[][^'\"]*\1", line):
        return None
    lexer = shlex.shlex(line.strip().replace("\n", " ; "), posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        parts = _split(list(lexer), ("&&", ";"))
        return tuple(_unit(part) for part in parts if part) or None
    except ValueError:
        return None


def _split(words: list[str], marks: tuple[str, ...]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word in marks:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _unit(words: list[str]) -> Unit:
    """Raises ValueError for what is not understood."""
    plain, given = [], {}
    waiting = iter(words)
    for word in waiting:
        if word in ("<", ">", ">>"):
            given[word] = _path(next(waiting, ""))
        elif word != "|" and re.fullmatch(r"[();<>|&]+", word):
            raise ValueError(word)
        else:
            plain.append(word)
    pipe = [_command(part) for part in _split(plain, ("|",))]
    into = next(((mark, given[mark]) for mark in (">", ">>") if mark in given), None)
    return _same(pipe, given.get("<"), into)


def _command(words: list[str]) -> tuple[str, ...]:
    """Flags first, each with its value as one word, one-letter flags together and sorted; then operands."""
    if not words:
        raise ValueError("an empty command")
    name, letters, valued, operands = words[0], set(), [], []
    waiting = iter(words[1:])
    for word in waiting:
        if word.startswith("-") and len(word) > 1 and not word.startswith("--"):
            flag, value = word[1], word[2:]
            if name in ("head", "tail") and flag.isdigit():
                valued.append(f"-n{word[1:]}")
            elif flag in _VALUED.get(name, ""):
                valued.append(f"-{flag}{value or next(waiting, '')}")
            else:
                letters |= set(word[1:])
        else:
            operands.append(_path(word))
    letters -= {"p"} if name == "mkdir" else {"f", "v"} if name in ("rm", "mv", "cp", "mkdir") else set()
    if name in ("awk", "sed"):
        operands[:1] = ["".join(each.split()) if name == "awk" else each for each in operands[:1]]
    if name in _ANY_ORDER:
        fixed = len(operands) - _ANY_ORDER[name]
        operands = sorted(operands[:fixed]) + operands[fixed:]
    flags = [*([f"-{''.join(sorted(letters))}"] if letters else []), *sorted(valued)]
    return (name, *flags, *operands)


def _same(pipe: list[tuple[str, ...]], source: str | None, into: tuple[str, str] | None) -> Unit:
    """One form for the few ways in which the same is often said."""
    if pipe[0][0] == "cat" and len(pipe) > 1 and len(pipe[0]) == 2 and source is None:
        source, pipe = pipe[0][1], pipe[1:]  # cat file | x
    if source and pipe[0][0] in _OPERAND_READERS:
        pipe, source = [(*pipe[0], source), *pipe[1:]], None
    if len(pipe) == 2 and pipe[1] == ("wc", "-l") and pipe[0][0] == "grep" and source is None and _letters(pipe[0]) <= {"v"}:
        pipe = [("grep", "-" + "".join(sorted(_letters(pipe[0]) | {"c"})), *_bare(pipe[0]))]
    if len(pipe) == 2 and pipe[1] == ("head", "-n1") and pipe[0][:2] == ("sort", "-nr"):
        pipe = [("sort", "-n", *pipe[0][2:]), ("tail", "-n1")]
    if len(pipe) == 1 and pipe[0][0] == "cat" and len(pipe[0]) == 2 and into and into[0] == ">":
        pipe, into = [("cp", pipe[0][1], into[1])], None
    return Unit(tuple(pipe), source, into)


def _letters(command: tuple[str, ...]) -> set[str]:
    return {letter for word in command[1:] if word.startswith("-") for letter in word[1:]}


def _bare(command: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in command[1:] if not word.startswith("-"))


def _path(word: str) -> str:
    return word.removeprefix("./").rstrip("/") or word
