"""The invented world: who and what there is, and how it is linked. Facts are computed from numbers, none is kept."""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from hbench.core.digest import derive_seed
from hbench.parts.families import _invented_names as names

# A group is twelve paragraphs about nine things; kinds told twice have two paragraphs under one title.
GROUP = (
    ("person", 0, 0), ("person", 0, 1), ("person", 1, 0), ("person", 1, 1), ("town", 0, 0), ("company", 0, 0),
    ("company", 0, 1), ("book", 0, 0), ("instrument", 0, 0), ("school", 0, 0), ("river", 0, 0), ("festival", 0, 0),
)  # fmt: skip
SLOTS = {place: slot for slot, place in enumerate(GROUP)}
IN_GROUP = {kind: 1 + max(n for k, n, _ in GROUP if k == kind) for kind, _, _ in GROUP} | {"lake": 1}


class Entity(NamedTuple):
    kind: str
    index: int


@dataclass(frozen=True, slots=True)
class Relation:
    """One thing that paragraph `part` of each `subject` tells. target: a kind, or year, people or km: a number."""

    name: str
    subject: str
    part: int
    target: str


RELATIONS = {
    relation.name: relation
    for relation in (
        Relation("born_in", "person", 0, "town"),
        Relation("taught_by", "person", 0, "person"),
        Relation("born_year", "person", 0, "year"),
        Relation("studied_at", "person", 1, "school"),
        Relation("town_river", "town", 0, "river"),
        Relation("town_founder", "town", 0, "person"),
        Relation("population", "town", 0, "people"),
        Relation("company_founder", "company", 0, "person"),
        Relation("company_year", "company", 0, "year"),
        Relation("company_seat", "company", 1, "town"),
        Relation("author", "book", 0, "person"),
        Relation("publisher", "book", 0, "company"),
        Relation("book_year", "book", 0, "year"),
        Relation("inventor", "instrument", 0, "person"),
        Relation("maker", "instrument", 0, "company"),
        Relation("school_town", "school", 0, "town"),
        Relation("rector", "school", 0, "person"),
        Relation("school_year", "school", 0, "year"),
        Relation("mouth", "river", 0, "lake"),
        Relation("surveyor", "river", 0, "person"),
        Relation("length", "river", 0, "km"),
        Relation("festival_town", "festival", 0, "town"),
        Relation("festival_founder", "festival", 0, "person"),
        Relation("festival_year", "festival", 0, "year"),
    )
}
NUMBERS = {"year": (1610, 300), "people": (1200, 88_000), "km": (35, 900)}  # target -> least, how many values
COMPARED = {"person": "born_year", "company": "company_year", "book": "book_year", "school": "school_year",
            "festival": "festival_year", "town": "population", "river": "length"}  # fmt: skip
_NOUNS = "Salt Bells Winter Ledger Orchard Lanterns Ashes Harbour Letters Garden Silence Bridge".split()


@dataclass(frozen=True, slots=True)
class World:
    """A world of `paragraphs` paragraphs. seed: another seed is another world."""

    paragraphs: int
    seed: int = 0

    @property
    def groups(self) -> int:
        return self.paragraphs // len(GROUP)

    def count(self, kind: str) -> int:
        return self.groups * IN_GROUP[kind]

    def follow(self, entity: Entity, relation: Relation) -> "Entity | int":
        """What the world says: exactly one thing, so that every chain of relations has one end.

        Never of the entity's own group: nothing is linked to itself or to a namesake.
        """
        drawn = names.mix(_seed(self.seed, relation.name), entity.index)
        if relation.target in NUMBERS:
            least, values = NUMBERS[relation.target]
            return least + drawn % values
        each, own = IN_GROUP[relation.target], entity.index // IN_GROUP[entity.kind]
        group = (own + 1 + drawn % (self.groups - 1)) % self.groups
        return Entity(relation.target, group * each + (drawn >> 40) % each)

    def title(self, entity: Entity) -> str:
        """The name of a thing, one for each of its kind. Some books and instruments are called like a company."""
        kind, index = entity
        if kind == "person":
            return names.person(index, self.count("person"), self.seed)
        if kind in ("book", "instrument") and self._is_namesake(entity):
            return self.title(Entity("company", index))
        name = names.word(kind, index, self.seed)
        if kind == "book":
            return f"The {_NOUNS[names.mix(_seed(self.seed, kind), index) % len(_NOUNS)]} of {name}"
        return {"school": f"{name} Academy", "festival": f"{name} Festival", "lake": f"Lake {name}"}.get(kind, name)

    def _is_namesake(self, entity: Entity) -> bool:
        return names.mix(_seed(self.seed, "namesake"), entity.index) % 8 == (0 if entity.kind == "book" else 1)

    def paragraph_of(self, entity: Entity, part: int) -> int:
        """The place in the corpus of one paragraph about `entity`."""
        group, member = divmod(entity.index, IN_GROUP[entity.kind])
        return group * len(GROUP) + SLOTS[entity.kind, member, part]

    def about(self, paragraph: int) -> tuple[Entity, int]:
        """The thing that a paragraph is about, and which of its paragraphs it is; past the last group a notice."""
        group, slot = divmod(paragraph, len(GROUP))
        if group >= self.groups:
            return Entity("notice", paragraph), 0
        kind, member, part = GROUP[slot]
        return Entity(kind, group * IN_GROUP[kind] + member), part


def document_id(paragraph: int) -> str:
    """Ids sort like the places in the corpus."""
    return f"p{paragraph:08d}"


@cache
def _seed(world: int, name: str) -> int:
    return derive_seed("invented_hops", "world", world, name)
