"""Whatever a student says as molecules: it is right or wrong, in the same way every time, and what is right stays so when RDKit
writes it anew.

`make fuzz` goes on with new ones for as long as it is told; what it found stands here as `@example`.
"""

from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("rdkit", reason="the extra `chemistry` is not installed")

from hbench.core.question import Question
from hbench.core.trajectory import Work
from hbench.parts.domains._smiles import one_line
from hbench.parts.part import build
from tests.thorough import often

pytestmark = pytest.mark.attack

SIGNS = st.sampled_from([
    "C", "c", "N", "n", "O", "o", "S", "s", "F", "Cl", "Br", "I", "B", "P", "p", "H", "*", "R", "[nH]", "[H]", "[2H]", "[13C]", "[Fe]", "[Xx]", "[#6]",
    "[C@H]", "[C@@]", "[S@]", "[Pt@SP1]", "[N+]", "[O-]", "[Cu+2]", "[CH4:7]", "[CH-]", "[se]", "[R1]", "[0]", "(", ")", "[", "]", "=", "#", "$", ":",
    "/", "\\", "-", "~", ".", ">", ">>", "|", "{", "}", "?", "!", ",", "1", "2", "3", "%10", "%(123)", "%", "9" * 30, " ", "\n", "\t", "\x00", "\ud800", "é",
    "<answer>", "</answer>", "<ANSWER>", "<think>", "</think>", "`", "**", "$_AV:x$", "C1CC1", "c1ccccc1", "c1ccc2ccccc2c1", "C(=O)O", "/C=C/", "[N+](=O)[O-]",
])  # fmt: skip
TRIES = settings(max_examples=often(60, 2500), deadline=None)


@cache
def uspto():
    return build("domains", {"kind": "uspto", "source": "authored"})


@cache
def real() -> list[str]:
    return [question.answer for question in uspto().questions(0, 60, seed=0)]


@st.composite
def spoilt(draw) -> str:
    """Real reactants with some characters lost and others put in."""
    text = draw(st.sampled_from(real()))
    for _ in range(draw(st.integers(1, 4))):
        place, gone = draw(st.integers(0, len(text))), draw(st.integers(0, 3))
        text = text[:place] + draw(SIGNS) * draw(st.integers(0, 2)) + text[place + gone :]
    return text


SMILES = spoilt() | st.lists(SIGNS, max_size=often(15, 40)).map("".join)
SAID = SMILES | SMILES.map("<answer>{}</answer>".format) | st.text(max_size=30)


def graded(said: str, gold: str):
    return uspto().grade_work(Work(said), Question.of("uspto", "?", gold, "?"))


@given(SAID, st.data())
@TRIES
def test_any_words_are_right_or_wrong_and_always_the_same(said, data):
    gold = data.draw(st.sampled_from(real()))
    found = graded(said, gold)
    assert found.keys() == {"score", "legacy"} and {*found.values()} <= {0.0, 1.0} and found == graded(said, gold)


@given(SMILES)
@TRIES
def test_a_molecule_is_the_same_when_it_is_written_anew(smiles):
    """Else a right answer would be wrong, since it is the canonical form that stands in the question."""
    canonical = one_line(smiles)
    assert one_line(canonical) == canonical
    if canonical:
        assert graded(f"<answer>{smiles}</answer>", canonical)["score"] == 1.0
