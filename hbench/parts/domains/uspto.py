"""USPTO-50k: one step of retrosynthesis, with RDKit at hand (Harness-Zero, section 4 and table 3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from hbench.core.digest import derive_seed
from hbench.core.extraction import tagged_answer
from hbench.core.failure import HbenchError
from hbench.core.installed import installed_version
from hbench.core.question import Question
from hbench.core.thinking import after_thinking
from hbench.core.trajectory import Work
from hbench.parts.domains import _smiles, _uspto_authored, _uspto_rows
from hbench.parts.domains._uspto_rows import CLASSES, Reaction
from hbench.parts.families import _qa_files
from hbench.parts.part import Part

AUTHORED = "authored"
_SLICE = "uspto50k.jsonl"
_ASKED = """{told}This molecule is the product of one reaction step:

{product}

Which molecules were its reactants? Name only those that give atoms to the product. The workspace has Python with RDKit.
Finish with the reactants' SMILES, dots between them and no atom maps, in answer tags, for example:
<answer>CC(=O)Cl.Oc1ccccc1</answer>"""


class Uspto(Part):
    """Which reactants gave this product. Graded by RDKit's canonical form of each molecule, all of them and no other.

    A product is shown in canonical form: in the order of a mapped reaction its atoms would tell where to cut. The paper's
    students leave the answer in a file; ours say it.
    """

    version: ClassVar[int] = 1
    packages: ClassVar[tuple[str, ...]] = ("rdkit",)
    own_process_per_answer: ClassVar[bool] = True  # what is parsed is the student's, by a library in C++

    kind: Literal["uspto"]
    name: str = Field("uspto", description="shown as the domain's name; it changes no question but its id")
    source: str | None = Field(
        None,
        description="file of reactions (JSON Lines or CSV), looked up here and in $HBENCH_DATA/uspto; authored: 1,440 "
        "textbook reactions of our own; default: uspto50k.jsonl",
    )
    split: Literal["train", "validation", "test", "any"] = Field(
        "any", description="reactions of this split; a row that names none is of every split"
    )
    balanced: bool = Field(
        True, description="each ten reactions in a row are of the ten classes, while they last; false: all mixed"
    )
    tell_class: bool = Field(True, description="the instruction names the reaction's class, as the paper's do")

    def describe(self) -> str:
        return (
            "A product molecule is given as SMILES, and the reactants that it was made from in one step are asked for, as "
            "SMILES. Python with RDKit is at hand; the answer counts when every molecule is right, however it is written."
        )

    def versions(self) -> Mapping[str, str]:
        """Digest of the file, `absent` where it is not there: a plan can be made without it, not run."""
        return {"rdkit": installed_version("rdkit"), "reactions": self._digest()}

    def questions(self, start: int, stop: int, seed: int) -> list[Question]:
        """Questions `start` to `stop` in the order that `seed` gives, fewer where they end.

        answer: the reactants in canonical form. meta: class, source_id, gold_score (0.0 where RDKit cannot read the
        reactants). Raises HbenchError when the file is not there, is broken or has no such reaction, or without RDKit.
        """
        if installed_version("rdkit") == "absent":
            raise HbenchError("the domain uspto needs RDKit: pip install 'hbench[chemistry]'")
        pool = _Pool(self._file(), self._digest(), self.split, self.balanced)
        order = _ordered(pool, seed)
        return [self._question(reaction, start + i) for i, reaction in enumerate(order[start:stop])]

    def _question(self, reaction: Reaction, index: int) -> Question:
        product, reactants = _smiles.one_line(reaction.product), _smiles.one_line(reaction.reactants)
        if not product:
            raise HbenchError(f"the product of reaction {reaction.id} is no molecule: {reaction.product}")
        told = f"Reaction class: {CLASSES[reaction.number - 1]}.\n" if self.tell_class else ""
        meta = {"class": reaction.number, "source_id": reaction.id, "gold_score": float(bool(reactants))}
        text = _ASKED.format(told=told, product=product)
        asked = Question.of(self.name, text, reactants, product, meta, index)
        return replace(asked, content_id=Question.of(self.kind, "", None, product).content_id)

    def _file(self) -> Path | None:
        """None for the authored ones."""
        if self.source == AUTHORED:
            return None
        file = _qa_files.find(self.source or _SLICE, "uspto")
        if file is None:
            raise HbenchError(
                f"no file of reactions {self.source or _SLICE!r}, neither here nor in {_qa_files.shown_folders('uspto')}; "
                "name one in domain.source, or set domain.source: authored"
            )
        return file

    def _digest(self) -> str:
        if self.source == AUTHORED:
            return AUTHORED
        try:
            return _qa_files.digest_of(self._file())[:16]
        except HbenchError:
            return "absent"

    def files(self, question: Question) -> Mapping[str, bytes]:
        return {}

    def collected(self, question: Question) -> tuple[str, ...]:
        return ()

    def grade_names(self) -> tuple[str, ...]:
        return ("score", "legacy")

    def grade_work(self, work: Work, question: Question) -> Mapping[str, float]:
        """score: the molecules are the reference's. legacy: the texts between dots are, in lower case, as public graders
        compare them (benzene is then cyclohexane, and a molecule in other words is wrong). Jail only.
        """
        wanted = _smiles.molecules(question.answer)
        if not wanted:
            raise ValueError(f"the reference answer is no molecule: {question.answer!r}")
        said = said_answer(work.answer)
        right = _smiles.molecules(said) == wanted
        return {"score": float(right), "legacy": float(_lowered(said) == _lowered(question.answer))}


def said_answer(text: str | None) -> str:
    """What stands in the last answer tag; without any tag the last line, ticks around it dropped. "" for none."""
    said = after_thinking(text or "") or ""
    if "<answer>" in said.lower():
        return tagged_answer(said) or ""
    lines = [line.strip(" \t`*") for line in said.splitlines()]
    return next((line for line in reversed(lines) if line), "")


def _lowered(smiles: str) -> frozenset[str]:
    return frozenset(part.strip().lower() for part in smiles.split(".") if part.strip())


@dataclass(frozen=True)
class _Pool:
    """What decides which reactions there are. digest: of `file`, so that a changed file is read again."""

    file: Path | None
    digest: str
    split: str
    balanced: bool

    def reactions(self) -> Iterator[Reaction]:
        return (row for row in self.rows() if self.split == "any" or row.split in ("", self.split))

    def rows(self) -> Iterator[Reaction]:
        """Reactions of every split."""
        return _uspto_rows.read(self.file) if self.file else _uspto_authored.reactions()


@lru_cache(maxsize=8)
def _ordered(pool: _Pool, seed: int) -> tuple[Reaction, ...]:
    """By a digest of seed and reaction, the order of the file apart; balanced: the first of each class, then the second."""
    mixed = sorted(pool.reactions(), key=lambda row: (derive_seed("uspto", seed, row.product, row.reactants), row.id))
    if not mixed:
        there = ", ".join(sorted({row.split for row in pool.rows()})) or "none at all"
        raise HbenchError(f"{pool.file} has no reaction of domain.split {pool.split}: there are {there}")
    if not pool.balanced:
        return tuple(mixed)
    ranked, met = [], dict.fromkeys(range(1, len(CLASSES) + 1), 0)
    for reaction in mixed:
        ranked.append((met[reaction.number], reaction.number, reaction))
        met[reaction.number] += 1
    return tuple(reaction for *_, reaction in sorted(ranked, key=lambda rank: rank[:2]))
