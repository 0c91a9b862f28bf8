"""Multi-hop questions about an invented world, with its own corpus: nothing to download, nothing read before."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from hbench.core.corpus import Document
from hbench.core.digest import derive_seed, digest
from hbench.core.question import Question
from hbench.parts.families import _invented_asks as asks
from hbench.parts.families import _invented_names as names
from hbench.parts.families._em_f1 import GRADES, grade_answer
from hbench.parts.families._invented_text import document, title_of, told
from hbench.parts.families._invented_world import World, document_id
from hbench.parts.part import Part

TEXTS = 1  # raised when the same parameters give other paragraphs
_TURNS = ("bridge", "bridge", "bridge", "comparison")  # of four questions of as many hops, one compares


@dataclass(frozen=True, slots=True)
class InventedCorpus:
    """Every paragraph of one world. Equal digests: equal paragraphs."""

    world: World

    @property
    def count(self) -> int:
        return self.world.paragraphs

    @property
    def name(self) -> str:
        return f"invented_hops-{self.world.paragraphs}"

    @property
    def digest(self) -> str:
        return digest(["invented_hops", TEXTS, self.world.paragraphs, self.world.seed])

    def documents(self) -> Iterator[Document]:
        """The paragraphs in order, each computed from its number: memory does not grow with the corpus."""
        return (document(self.world, paragraph) for paragraph in range(self.world.paragraphs))


class InventedHops(Part):
    """Questions of 2 to 4 hops about invented people, towns, companies, books …, and the paragraphs that answer them.

    Every question needs `hops` paragraphs, one a fact. Its answer is unique by construction: it starts from a kind and
    a name that only one thing has, and each relation leads to one thing. Chains (three of four) and comparisons.
    """

    version: ClassVar[int] = 1
    own_process_per_answer: ClassVar[bool] = False  # grading compares texts

    kind: Literal["invented_hops"]
    name: str = Field("invented_hops", description="shown as the family's name")
    hops: tuple[Literal[2, 3, 4], ...] = Field(
        (2, 3, 4), min_length=1, description="paragraphs that a question needs; listed twice is asked twice as often"
    )
    paragraphs: int = Field(2400, ge=240, description="paragraphs of the corpus, 40 to 100 words each; any size")
    world: int = Field(0, ge=0, description="another number is another world, with other names and facts")

    @field_validator("hops", mode="before")
    @classmethod
    def _one_or_more(cls, value: object) -> object:
        return [value] if isinstance(value, int) else value

    def describe(self) -> str:
        return (
            "A question about people, towns, companies, books, instruments, schools, rivers and festivals, whose "
            "answer must be put together from two to four paragraphs of a corpus that tools.search finds. The answer "
            "is a name, a number, yes or no, and nothing else."
        )

    def versions(self) -> Mapping[str, str]:
        return {"corpus": self.corpus().digest[:16], "bm25s": _installed("bm25s")}

    def corpus(self) -> InventedCorpus:
        return InventedCorpus(World(self.paragraphs, self.world))

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """No question comes twice in a pool; the pool ends before its first kind of question would repeat.

        meta: type, hops, supporting (ids of the paragraphs), supporting_titles, aliases, evidence: (thing, relation,
        what the world says) in the order of reading.
        """
        pool = _Pool(World(self.paragraphs, self.world), self.hops, seed)
        return [self._question(pool, index) for index in range(start, min(stop, pool.size))]

    def _question(self, pool: "_Pool", index: int) -> Question:
        hops, type_, form, number = pool.place(index)
        world = pool.world
        asked = asks.ask(world, form, number, names.Dice(derive_seed("invented_hops", pool.seed, index)))
        evidence = [[title_of(world, e), r.name, told(world, value, r.target)] for e, r, value in asked.facts]
        meta = {
            "type": type_,
            "hops": hops,
            "supporting": [document_id(world.paragraph_of(e, r.part)) for e, r, _ in asked.facts],
            "supporting_titles": [title for title, _, _ in evidence],
            "aliases": list(asked.aliases),
            "evidence": evidence,
        }
        content = [world.paragraphs, world.seed, type_, [[*e, r.name] for e, r, _ in asked.facts], asked.answer]
        return Question.of(self.name, asked.text, asked.answer, content, meta, index)

    def grade_names(self) -> tuple[str, ...]:
        return GRADES

    def grade(self, answer: str, question: Question) -> Mapping[str, float]:
        """em: 1.0 where the answer is the gold or an alias but for case, articles and punctuation; f1: shared words."""
        return grade_answer(answer, question)


@dataclass(frozen=True, slots=True)
class _Pool:
    """Which question stands at which place: hops in turn, every fourth of each a comparison, each sort shuffled."""

    world: World
    hops: tuple[int, ...]
    seed: int

    @property
    def size(self) -> int:
        rounds = [self._room(hops, type_) // self._share(hops, type_) for hops in self.hops for type_ in _TURNS]
        return min(rounds) * len(self.hops) * len(_TURNS)

    def place(self, index: int) -> tuple[int, str, asks.Form, int]:
        """hops, type, form and the number of the question among those of its form."""
        turn, slot = divmod(index, len(self.hops))
        round_, turn = divmod(turn, len(_TURNS))
        hops, type_ = self.hops[slot], _TURNS[turn]
        before = _TURNS[:turn].count(type_) * self.hops.count(hops) + self.hops[:slot].count(hops)
        nth = round_ * self._share(hops, type_) + before
        number = names.shuffled(nth, self._room(hops, type_), derive_seed("invented_hops", self.seed, hops, type_))
        for form in asks.forms(hops, type_):
            if number < asks.starts(self.world, form):
                return hops, type_, form, number
            number -= asks.starts(self.world, form)
        raise AssertionError("a question's number lies past the last form")

    def _share(self, hops: int, type_: str) -> int:
        """Questions of so many hops and this type in one round of hops and turns."""
        return self.hops.count(hops) * _TURNS.count(type_)

    def _room(self, hops: int, type_: str) -> int:
        return _room(self.world, hops, type_)


@cache
def _room(world: World, hops: int, type_: str) -> int:
    return sum(asks.starts(world, form) for form in asks.forms(hops, type_))


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"
