"""Retrosynthesis in the real workspace: RDKit is there, and the answer is graded in the jail."""

import pytest

from hbench.parts.part import build
from tests.runtime.acting import Played, bash, question, told

pytest.importorskip("rdkit", reason="the extra `chemistry` is not installed")
DOMAIN = {"kind": "uspto", "source": "authored"}
CANONICAL = "python3 -c \"from rdkit import Chem; print(Chem.MolToSmiles(Chem.MolFromSmiles('OCC')))\""


def test_a_student_asks_rdkit_and_its_answer_is_graded_however_it_is_written():
    from rdkit import Chem

    gold = question(DOMAIN).answer
    other = Chem.MolToSmiles(Chem.MolFromSmiles(gold), canonical=False, doRandom=True)
    acted = Played([bash(CANONICAL), f"<answer>{other}</answer>"], DOMAIN, target={"memory_mb": 1024}).play()
    assert told(acted)[0] == "CCO"
    assert acted.rollout.grades["score"] == 1.0, (gold, other)


@pytest.mark.parametrize("answer", ["<answer>C1CC</answer>", "<answer>c1ccccc1</answer>", "No idea.", "<answer>" + "(" * 3000])
def test_a_wrong_answer_scores_nothing_and_breaks_nothing(answer):
    acted = Played([answer], DOMAIN).play()
    assert acted.rollout.failure is None and acted.rollout.grades == {"score": 0.0, "legacy": 0.0}


def test_the_right_answer_stands_nowhere_in_the_workspace():
    acted = Played([bash("ls -A | wc -l; env"), "none"], DOMAIN).play()
    seen, gold = told(acted)[0], question(DOMAIN).answer
    assert seen.startswith("0\n") and gold not in seen
    assert build("domains", DOMAIN).files(question(DOMAIN)) == {}
