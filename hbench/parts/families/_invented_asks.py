"""Questions over the invented world: chains of relations from one named thing, and comparisons of two such chains."""

from dataclasses import dataclass
from functools import cache
from typing import Literal

from hbench.parts.families import _invented_names as names
from hbench.parts.families._invented_text import told
from hbench.parts.families._invented_world import COMPARED, IN_GROUP, RELATIONS, Entity, Relation, World

# {x}: who or what it is about. The first wordings stand inside longer questions, the others are whole questions.
INSIDE = {
    "born_in": ("the town where {x} was born", "the birthplace of {x}"),
    "taught_by": ("the teacher of {x}", "the person who taught {x}"),
    "studied_at": ("the school where {x} studied", "the school attended by {x}"),
    "town_river": ("the river that flows through {x}", "the river on which {x} lies"),
    "town_founder": ("the founder of {x}", "the person who founded {x}"),
    "company_founder": ("the founder of {x}", "the person who set up {x}"),
    "company_seat": ("the town where {x} is based", "the town that holds the head office of {x}"),
    "author": ("the author of {x}", "the person who wrote {x}"),
    "publisher": ("the publisher of {x}", "the company that published {x}"),
    "inventor": ("the inventor of {x}", "the person who invented {x}"),
    "maker": ("the maker of {x}", "the company that makes {x}"),
    "school_town": ("the town where {x} is located", "the town that is home to {x}"),
    "rector": ("the head of {x}", "the person who leads {x}"),
    "surveyor": ("the person who first mapped {x}", "the first surveyor of {x}"),
    "festival_town": ("the town where {x} is held", "the host town of {x}"),
    "festival_founder": ("the person who first organised {x}", "the initiator of {x}"),
}
WHOLE = {
    "born_in": ("In which town was {x} born?", "Where was {x} born?"),
    "taught_by": ("Who taught {x}?", "Whose pupil was {x}?"),
    "born_year": ("In which year was {x} born?", "What is the year of birth of {x}?"),
    "studied_at": ("At which school did {x} study?", "Which school did {x} attend?"),
    "town_river": ("Which river flows through {x}?", "On which river does {x} lie?"),
    "town_founder": ("Who founded {x}?", "By whom was {x} founded?"),
    "population": ("How many people live in {x}?", "What is the number of inhabitants of {x}?"),
    "company_founder": ("Who set up {x}?", "Who is the founder of {x}?"),
    "company_year": ("In which year was {x} established?", "When did {x} open for business?"),
    "company_seat": ("In which town is {x} based?", "Where does {x} have its head office?"),
    "author": ("Who wrote {x}?", "Who is the author of {x}?"),
    "publisher": ("Which company published {x}?", "Who is the publisher of {x}?"),
    "book_year": ("In which year did {x} first appear?", "When was the first edition of {x} printed?"),
    "inventor": ("Who invented {x}?", "Whose invention is {x}?"),
    "maker": ("Which company makes {x}?", "Who is the maker of {x}?"),
    "school_town": ("In which town is {x} located?", "Where does {x} stand?"),
    "rector": ("Who leads {x}?", "Who is the head of {x}?"),
    "school_year": ("In which year was {x} opened?", "When did {x} take in its first pupils?"),
    "mouth": ("Into which lake does {x} flow?", "Which lake does {x} end in?"),
    "surveyor": ("Who first mapped {x}?", "Who drew the first map of {x}?"),
    "length": ("How many kilometres long is {x}?", "What is the length of {x} in kilometres?"),
    "festival_town": ("In which town is {x} held?", "Where does {x} take place?"),
    "festival_founder": ("Who first organised {x}?", "Whose idea was {x}?"),
    "festival_year": ("In which year was {x} first celebrated?", "When did {x} begin?"),
}
# Who is asked for has the smaller value in the first wording and the larger in the second; the third asks yes or no.
COMPARE = {
    "person": ("Who was born earlier, {x} or {y}?", "Who was born later, {x} or {y}?", "Was {x} born before {y}?"),
    "company": ("Which company was established earlier, {x} or {y}?",
                "Which company was established later, {x} or {y}?", "Was {x} established before {y}?"),
    "book": ("Which book appeared earlier, {x} or {y}?", "Which book appeared later, {x} or {y}?",
             "Did {x} appear before {y}?"),
    "school": ("Which school was opened earlier, {x} or {y}?", "Which school was opened later, {x} or {y}?",
               "Was {x} opened before {y}?"),
    "festival": ("Which festival was celebrated earlier, {x} or {y}?",
                 "Which festival was celebrated later, {x} or {y}?", "Was {x} celebrated before {y}?"),
    "town": ("Which town has fewer inhabitants, {x} or {y}?", "Which town has more inhabitants, {x} or {y}?",
             "Does {x} have fewer inhabitants than {y}?"),
    "river": ("Which river is shorter, {x} or {y}?", "Which river is longer, {x} or {y}?", "Is {x} shorter than {y}?"),
}  # fmt: skip
_NAMED = {"town": "the town of {}", "company": "the company {}", "book": "the book “{}”",
          "instrument": "the instrument {}", "river": "the river {}", "festival": "the {}"}  # fmt: skip
Type = Literal["bridge", "comparison"]


@dataclass(frozen=True, slots=True)
class Form:
    """What all questions of a form share. paths: one chain of relations, or two to compare; () is the thing itself."""

    start: str
    paths: tuple[tuple[Relation, ...], ...]
    other: str = ""  # comparison: the kind of thing that the second chain starts from


@dataclass(frozen=True, slots=True)
class Asked:
    """facts: (thing, relation, what the world says), in the order of reading; each stands in a paragraph of its own."""

    text: str
    answer: str
    aliases: tuple[str, ...]
    facts: tuple[tuple[Entity, Relation, "Entity | int"], ...]


@cache
def forms(hops: int, type: Type) -> tuple[Form, ...]:
    """Every form of question that needs `hops` paragraphs."""
    if type == "bridge":
        return tuple(Form(start, (path,)) for start in IN_GROUP for path in _paths(start, hops, (start,)))
    steps = [r for r in RELATIONS.values() if r.target in COMPARED]
    flat = [Form(kind, ((), ()), kind) for kind in COMPARED]
    half = [Form(r.subject, ((r,), ()), r.target) for r in steps]
    full = [Form(r.subject, ((r,), (s,)), s.subject) for r in steps for s in steps if r.target == s.target]
    return tuple({2: flat, 3: half, 4: full}[hops])


def _paths(kind: str, hops: int, seen: tuple[str, ...]) -> list[tuple[Relation, ...]]:
    """Chains of `hops` relations in which no kind comes back, but for a person's teacher: so no thing comes twice."""
    found = []
    for relation in (r for r in RELATIONS.values() if r.subject == kind):
        target = relation.target
        if hops == 1:
            found.append((relation,)) if target not in seen or relation.name == "taught_by" else None
        elif target in IN_GROUP and (target not in seen or (target == kind and seen.count(kind) == 1)):
            found += [(relation, *rest) for rest in _paths(target, hops - 1, (*seen, target))]
    return found


def starts(world: World, form: Form) -> int:
    """How many questions of this form there are. One half of a comparison starts from even numbers, one from odd."""
    count = world.count(form.start)
    return (count + 1) // 2 if form.other else count


def ask(world: World, form: Form, number: int, dice: names.Dice) -> Asked:
    """Question `number` of `form`."""
    return _compared(world, form, number, dice) if form.other else _chained(world, form, number, dice)


def _chained(world: World, form: Form, number: int, dice: names.Dice) -> Asked:
    start, (path,) = Entity(form.start, number), form.paths
    facts = _walk(world, start, path)
    end, target = facts[-1][2], path[-1].target
    text = dice.pick(WHOLE[path[-1].name]).format(x=_phrase(world, start, path[:-1], dice))
    return Asked(text, told(world, end, target), _aliases(world, end, target), facts)


def _compared(world: World, form: Form, number: int, dice: names.Dice) -> Asked:
    one, (path, other_path) = Entity(form.start, 2 * number), form.paths
    first = _measured(world, one, path)
    others = (world.count(form.other)) // 2
    place = dice.roll(others)
    for step in range(others):  # nearly always the first fits
        other = Entity(form.other, 2 * ((place + step) % others) + 1)
        second = _measured(world, other, other_path)
        places = {(entity, relation.part) for entity, relation, _ in first + second}
        if len(places) == len(first + second) and first[-1][2] != second[-1][2] and first[-1][0] != second[-1][0]:
            break
    sides = [(one, path, first), (other, other_path, second)]
    sides = sides[::-1] if dice.roll(2) else sides
    x, y = (_phrase(world, entity, chain, dice) for entity, chain, _ in sides)
    wording = dice.roll(3)
    kind, (smaller, larger) = first[-1][0].kind, sorted((facts[-1] for _, _, facts in sides), key=lambda fact: fact[2])
    text = COMPARE[kind][wording].format(x=x, y=y)
    if wording == 2:
        return Asked(text, "yes" if sides[0][2][-1] == smaller else "no", (), first + second)
    asked_for = (smaller, larger)[wording][0]
    return Asked(text, world.title(asked_for), _aliases(world, asked_for, kind), first + second)


def _measured(world: World, start: Entity, path: tuple[Relation, ...]) -> tuple:
    kind = path[-1].target if path else start.kind
    return _walk(world, start, (*path, RELATIONS[COMPARED[kind]]))


def _walk(world: World, start: Entity, path: tuple[Relation, ...]) -> tuple:
    facts, here = [], start
    for relation in path:
        value = world.follow(here, relation)
        facts.append((here, relation, value))
        here = value
    return tuple(facts)


def _phrase(world: World, start: Entity, path: tuple[Relation, ...], dice: names.Dice) -> str:
    phrase = _NAMED.get(start.kind, "{}").format(world.title(start))
    for relation in path:
        phrase = dice.pick(INSIDE[relation.name]).format(x=phrase)
    return phrase


def _aliases(world: World, value: "Entity | int", target: str) -> tuple[str, ...]:
    """Other answers that say the same: a kind told with the name, or a bare name."""
    if not isinstance(value, Entity):
        return (f"{value} kilometres", f"{value} km") if target == "km" else ()
    title = world.title(value)
    if value.kind in ("school", "festival", "lake"):
        return (title.removeprefix("Lake ").split()[0],)
    return {"river": (f"river {title}",), "town": (f"town of {title}",)}.get(value.kind, ())
