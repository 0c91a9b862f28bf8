"""One pass over the nodes of a YAML file: where each key and item stands, and what a spec may not hold."""

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from hbench.spec.problems import Mark, Problem
from hbench.spec.tree import Place, dotted

REFERENCE = re.compile(r"\.*[A-Za-z_][\w-]*(?:\.[\w-]+)*")  # inside ${…}: dotted.path, or .name of the same mapping
ENVIRONMENT = re.compile(r"oc\.env:([A-Za-z_]\w*)(?:,(.*))?")
OPENING = re.compile(r"(?<!\\)\$\{([^{}]*\}?)")

_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "map", "seq")}


@dataclass
class Walk:
    """One pass over the nodes: collects marks, and takes out of the tree what cannot stay."""

    file: str
    marks: dict[Place, Mark]
    problems: list[Problem] = field(default_factory=list)
    unread: set[Place] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)

    def report(self, place: Place, mark: Mark, what: str, hint: str = "") -> None:
        self.problems.append(Problem(mark, what, hint))
        self.unread.add(place)

    def mapping(self, node: Any, place: Place) -> None:
        kept: dict[str, Any] = {}
        for key, value in node.value:
            trouble = _key_trouble(key)
            if trouble:
                known = (*place, key.value) if key.id == "scalar" else place
                self.report(known, self.mark_of(key), *trouble)  # what else is wrong beside it is told too
            elif key.value in kept:
                first = self.marks[(*place, key.value)]
                what = f"key '{key.value}' is given twice"
                self.report((*place, key.value), self.mark_of(key), what, f"first at line {first.line}")
            elif self.entry(value, (*place, key.value), self.mark_of(key)):
                kept[key.value] = (key, value)
        node.value = list(kept.values())

    def entry(self, node: Any, place: Place, mark: Mark) -> bool:
        """Walks on below `place`; False when the value cannot stay."""
        text = node.value if node.id == "scalar" else ""
        hidden = place[0] == "machine" and "${" in text
        self.marks[place] = replace(mark, written=text if node.id == "scalar" and not node.style else "", hidden=hidden)
        trouble = _value_trouble(node, place, id(node) in self.seen)
        self.seen.add(id(node))
        if trouble:
            self.report(place, self.mark_of(node), f"{dotted(place)}: {trouble[0]}", trouble[1])
            return False
        if node.id == "mapping":
            self.mapping(node, place)
        elif node.id == "sequence":
            node.value = [n for i, n in enumerate(node.value) if self.entry(n, (*place, i), self.mark_of(n))]
        return True

    def mark_of(self, node: Any) -> Mark:
        return Mark(self.file, node.start_mark.line + 1, node.start_mark.column + 1)


def _key_trouble(key: Any) -> tuple[str, str] | None:
    if key.id != "scalar":
        return "a key must be text", "put text that begins with { or [ in quotes"
    if key.value == "<<" and not key.style:
        return "merge keys are not read", "use `extends`, or `let` with ${let.name}"
    if key.tag not in _TAGS:
        return f"tag {key.tag} is not read", "specs hold plain values only"
    number = re.fullmatch(r"[-+]?[\d_.]+[eE][-+]?\d+", key.value)  # such as 1e5, which PyYAML takes for text
    if not key.style and (number or _resolved(key.value) != "tag:yaml.org,2002:str"):
        return f"key {key.value or '(empty)'} is not text in YAML", f'quote it: "{key.value}"'
    return None


@lru_cache(maxsize=1024)
def _resolved(text: str) -> str:
    """The tag that YAML gives to `text` when it stands without quotes."""
    import yaml

    return yaml.resolver.Resolver().resolve(yaml.ScalarNode, text, (True, False))


def _value_trouble(node: Any, place: Place, seen: bool) -> tuple[str, str] | None:
    if seen:
        return "anchors and aliases are not read", "give it a name under `let` and write ${let.name}"
    if node.tag not in _TAGS:
        return f"tag {node.tag} is not read", "specs hold plain values only"
    if node.id != "scalar":
        return None
    if not node.style and re.fullmatch(r"[-+]?(0[0-7_]+|[0-9_]+(:[0-5]?[0-9])+(\.[0-9_]*)?)", node.value):
        return f"{node.value} is an octal or base-60 number in YAML", "write it in decimal, or quote it"
    return _interpolation_trouble(node.value, place)


def _interpolation_trouble(text: str, place: Place) -> tuple[str, str] | None:
    for inside in OPENING.findall(text):
        name = inside[:-1]
        if inside.endswith("}") and REFERENCE.fullmatch(name):
            continue
        if inside.endswith("}") and ENVIRONMENT.fullmatch(name):
            if place[0] == "machine":
                continue
            what = f"the environment variable {ENVIRONMENT.fullmatch(name)[1]} may be read under `machine` only"
            return what, "what is hashed must not depend on it"
        hint = "write ${dotted.path} or ${.name}, or \\${ for the signs themselves; long texts belong into prompts/"
        return f"${{{inside} is not an interpolation", hint
    return None
