"""What to do for a small shell job: understood from the instruction, and from what commands printed."""

import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

Plan = Generator[str, str, None]  # yields a command line, is sent what it printed; ends when the job is done, or raises Lost

_FILE = re.compile(r"\b[\w-]+\.[a-z]+\b")


class Lost(Exception):
    """What was printed does not say how to go on."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An instruction. named: what its cue names (word, ending …), and its folder. files: those it names, in its order."""

    plan: Callable[["Asked"], Plan]
    named: dict[str, str]
    files: tuple[str, ...]

    def start(self) -> Plan:
        return self.plan(self)


def understood(instruction: str) -> Asked | None:
    """The first rule whose cue stands in the instruction; None where there is none."""
    for cue, plan in _RULES:
        if found := re.search(cue, instruction, re.IGNORECASE):
            folder = re.search(r"folder (\w+)", instruction)
            named = found.groupdict() | ({"d": folder[1]} if folder else {})
            return Asked(plan, named, tuple(_FILE.findall(instruction)))
    return None


def _write(command: str) -> Callable[[Asked], Plan]:
    """Writes the last file named, and reads it back. {a}, {b}: the first and second file; {to}: the last."""

    def plan(asked: Asked) -> Plan:
        files = asked.files
        if len(files) < 2:
            raise Lost
        yield command.format(a=files[0], b=files[1], to=files[-1], **asked.named)
        yield f"cat {files[-1]}"

    return plan


def _column(asked: Asked) -> Plan:
    source, target = asked.files
    heading = yield f"head -n 1 {source}"
    headings = heading.strip().split(",")
    if asked.named["c"] not in headings:
        raise Lost
    yield f"cut -d, -f{headings.index(asked.named['c']) + 1} {source} > {target}"
    yield f"cat {target}"


def _look_up(asked: Asked) -> Plan:
    source, target = asked.files
    row = yield f"grep {asked.named['w']} {source}"
    found = re.search(r",(\d+)\s*$", row)
    if found is None:
        raise Lost
    yield f"echo {found[1]} > {target}"
    yield f"cat {target}"


def _replace(asked: Asked) -> Plan:
    yield f"sed -i 's/{asked.named['x']}/{asked.named['y']}/g' {asked.files[0]}"
    yield f"cat {asked.files[0]}"


def _move(paths: str, folder: str) -> Plan:
    yield f"mkdir {folder} && mv {paths} {folder}"
    yield f"ls {folder}"


def _move_by_ending(asked: Asked) -> Plan:
    yield from _move(f"*.{asked.named['e']}", asked.named["d"])


def _move_listed(asked: Asked) -> Plan:
    listed = yield f"cat {asked.files[0]}"
    yield from _move(" ".join(_listed(listed)), asked.named["d"])


def _delete_listed(asked: Asked) -> Plan:
    listed = yield f"cat {asked.files[0]}"
    yield f"rm {' '.join(_listed(listed))}"
    yield "ls"


def _rename(asked: Asked) -> Plan:
    note, old = asked.files if "old" not in asked.named else reversed(asked.files)
    name = yield f"cat {note}"
    yield f"mv {old} {_listed(name)[0]}"
    yield "ls"


def _move_found(asked: Asked) -> Plan:
    holder = yield f"grep -l {asked.named['w']} *.txt"
    yield from _move(_listed(holder)[0], asked.named["d"])


def _copy_found(asked: Asked) -> Plan:
    holder = yield f"grep -l {asked.named['w']} *.txt"
    yield f"cp {_listed(holder)[0]} {asked.files[-1]}"
    yield f"cat {asked.files[-1]}"


def _listed(printed: str) -> list[str]:
    """The lines of what was printed, where each is a file's name."""
    names = printed.split()
    if not names or not all(_FILE.fullmatch(name) for name in names):
        raise Lost
    return names


_COUNT = r"(?:number|count|how many)\b.*"
# The more telling cue comes first: every count of lines that contain a word is also a count of lines.
_RULES: Sequence[tuple[str, Callable[[Asked], Plan]]] = (
    (r"\.txt file (?:that )?contains (?P<w>\w+).*folder", _move_found),
    (r"\.txt file (?:that )?contains (?P<w>\w+).*copy", _copy_found),
    (r"all \.(?P<e>\w+) files", _move_by_ending),
    (r"delete", _delete_listed),
    (r"files named in", _move_listed),
    (r"rename (?P<old>\S+) to the name", _rename),
    (r"rename", _rename),
    (rf"{_COUNT}lines.*do not contain (?P<w>\w+)", _write("grep -vc {w} {a} > {to}")),
    (rf"{_COUNT}lines.*contain (?P<w>\w+)", _write("grep -c {w} {a} > {to}")),
    (r"lines.*do not contain (?P<w>\w+)", _write("grep -v {w} {a} > {to}")),
    (r"lines.*contain (?P<w>\w+)", _write("grep {w} {a} > {to}")),
    (rf"{_COUNT}words", _write("wc -w < {a} > {to}")),
    (rf"{_COUNT}lines", _write("wc -l < {a} > {to}")),
    (r"from Z to A|reverse alphabetical", _write("sort -r {a} > {to}")),
    (r"from A to Z|alphabetical", _write("sort {a} > {to}")),
    (r"smallest first", _write("sort -n {a} > {to}")),
    (r"largest", _write("sort -n {a} | tail -n 1 > {to}")),
    (r"smallest", _write("sort -n {a} | head -n 1 > {to}")),
    (r"sum of|add up", _write("awk '{{s += $1}} END {{print s}}' {a} > {to}")),
    (r"first (?P<n>\d+) lines", _write("head -n {n} {a} > {to}")),
    (r"last (?P<n>\d+) lines", _write("tail -n {n} {a} > {to}")),
    (r"column (?P<c>\w+)", _column),
    (r"price of (?P<w>\w+)", _look_up),
    (r"replace (?P<x>\w+) by (?P<y>\w+)", _replace),
    (r"change every (?P<x>\w+) in \S+ to (?P<y>\w+)", _replace),
    (r"\bjoin\b|and then", _write("cat {a} {b} > {to}")),
)
