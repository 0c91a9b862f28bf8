"""USPTO-50k: what counts as the same molecules, the order of a pool, and files of several shapes."""

import csv
import gzip
import io
import json

import pytest

from hbench.core.failure import HbenchError, StepError
from hbench.core.question import Question
from hbench.core.trajectory import Work
from hbench.parts.domains.uspto import said_answer
from hbench.parts.part import build
from hbench.steps.split import split
from tests.where import cases, data

pytest.importorskip("rdkit", reason="the extra `chemistry` is not installed")
ROW = {"id": "one", "class": 1, "product": "CCOC", "reactants": "CCO.CI", "split": "test"}
MAPPED = "[CH3:1][CH2:2][OH:3].I[CH3:4]>[Na+].[H-]>[CH3:1][CH2:2][O:3][CH3:4]"


def uspto(**fields):
    return build("domains", {"kind": "uspto", **fields})


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty working folder, and no data folder but $HBENCH_DATA/uspto in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "uspto").mkdir(parents=True)
    return tmp_path / "data" / "uspto"


def write(file, *rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def graded(answer, gold):
    asked = Question.of("uspto", "?", gold, "?")
    return uspto(source="authored").grade_work(Work(answer), asked)


def pairs(name):
    return list(csv.DictReader((cases() / name / "pairs.tsv").open(), delimiter="\t"))


@pytest.mark.parametrize("name", ["125-empty-and-invalid-smiles", "127-canonical-form-not-stable"])
@pytest.mark.attack
def test_pairs_that_other_tools_got_wrong(name, capfd):
    for pair in pairs(name):
        if pair["score"] == "error":
            with pytest.raises(ValueError, match="reference answer is no molecule"):
                graded(pair["pred"], pair["gold"])
        else:
            assert graded(pair["pred"], pair["gold"])["score"] == float(pair["score"]), pair
    assert capfd.readouterr().err == ""  # RDKit says nothing of what a student wrote


@pytest.mark.parametrize(
    ("answer", "gold", "score", "legacy"),
    [
        ("CI.CCO", "CCO.CI", 1, 1),  # another order
        ("OCC.IC", "CCO.CI", 1, 0),  # and other words
        ("C1CCCCC1", "c1ccccc1", 0, 1),  # cyclohexane is not benzene
        ("CCO", "CCO.CI", 0, 0),  # one is missing
        ("CCO.CI.CCN", "CCO.CI", 0, 0),  # one too many
        ("CCO.CI.CCO", "CCO.CI", 1, 1),  # how often is not asked
        ("C[C@H](N)O", "C[C@@H](N)O", 0, 0),  # the mirror image is another molecule
        ("[2H]OCC", "CCO", 0, 0),
        ("CCO.CI, I think", "CCO.CI", 0, 0),
        ("CCO |some extension|", "CCO", 0, 0),
        ("CCO>>CCO", "CCO", 0, 0),
        ("C" * 5000, "CCO", 0, 0),
        ("ＣＣＯ", "CCO", 0, 0),
        (None, "CCO", 0, 0),
    ],
)
def test_the_molecules_count_and_not_how_they_are_written(answer, gold, score, legacy):
    assert graded(answer, gold) == {"score": score, "legacy": legacy}


HOSTILE = {
    "a branch in a branch": "C(" * 1300 + "C" + ")" * 1300,
    "brackets that stay open": "[" * 4000,
    "rings that stay open": "".join(f"C%{number}" for number in range(10, 99)),
    "one ring upon another": "".join(f"C%({number})" for number in range(400)) * 2,
    "a huge isotope": "[99999999999999999999C]",
    "a huge charge": "[C+99999999999999999999]",
    "a huge atom map": "[CH4:99999999999999999999]",
    "two thousand pieces": "C." * 1999 + "C",
    "characters that steer": "C\x00C\x1b[31mO\n",
    "an extension": "CCO |$_AV:" + "x" * 3000 + "$|",
}


@pytest.mark.attack
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_molecule_is_no_answer_and_no_trouble(what):
    """RDKit itself breaks on none of them; in a run it reads them in the grader jail, where another pays for nothing."""
    assert graded(HOSTILE[what], "CCO")["score"] == 0.0


@pytest.mark.attack
@pytest.mark.control
def test_any_order_of_atoms_is_the_same_molecule():
    from rdkit import Chem

    for asked in uspto(source="authored").questions(0, 40, seed=3):
        written = Chem.MolToSmiles(Chem.MolFromSmiles(asked.answer), doRandom=True, canonical=False)
        assert graded(f"<answer>{written}</answer>", asked.answer)["score"] == 1.0, written


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("An ether. <answer>CCO.CI</answer>", "CCO.CI"),
        ("<answer>C</answer> no: <answer> CCO </answer>", "CCO"),
        ("<answer>C</answer> no: <answer>CCO", ""),  # about to say something else
        ("<think><answer>C</answer></think>\nThe reactants are\n\n`CCO.CI`\n", "CCO.CI"),
        ("\n \n", ""),
        (None, ""),
    ],
)
def test_the_answer_is_what_the_last_tag_holds_or_else_the_last_line(text, said):
    assert said_answer(text) == said


def test_authored_reactions_need_no_file_and_every_class_has_as_many(here):
    asked = uspto(source="authored").questions(0, 2000, seed=1)
    assert len({question.content_id for question in asked}) == 1440
    assert all(question.meta["gold_score"] == 1.0 for question in asked)
    for start in range(0, 1440, 10):
        assert [question.meta["class"] for question in asked[start : start + 10]] == list(range(1, 11))


def test_the_pool_is_the_same_whatever_part_is_asked_for_and_its_order_is_the_seeds():
    domain = uspto(source="authored")
    assert domain.questions(30, 40, seed=1) == domain.questions(0, 40, seed=1)[30:]
    assert domain.questions(0, 9, seed=1) != domain.questions(0, 9, seed=2)


def test_training_questions_are_balanced_too_and_none_is_held_out():
    params = {"domain": {"kind": "uspto", "source": "authored"}, "sizes": {"evaluation": 20, "training": 50}, "seed": 4}
    roles = {role: split({**params, "role": role}, {}, None).value["questions"] for role in ("evaluation", "training")}
    assert [len(questions) for questions in roles.values()] == [20, 50]
    assert all([q["meta"]["class"] for q in questions].count(7) * 10 == len(questions) for questions in roles.values())
    assert not {q["content_id"] for q in roles["evaluation"]} & {q["content_id"] for q in roles["training"]}


def test_a_class_that_ends_leaves_its_place_to_the_others(here):
    rare = [{**ROW, "id": f"r{i}", "class": 10, "product": "C" * (i + 1)} for i in range(2)]
    write(here / "uspto50k.jsonl", *({**ROW, "id": i, "product": "O" + "C" * i} for i in range(1, 6)), *rare)
    assert [q.meta["class"] for q in uspto().questions(0, 9, 0)] == [1, 10, 1, 10, 1, 1, 1]
    assert len(uspto(balanced=False).questions(0, 9, 0)) == 7


def test_every_shape_of_file_gives_the_same_question(here):
    columns = io.StringIO()
    csv.writer(columns).writerows([["id", "class", "reactants>reagents>production"], ["one", "1", MAPPED]])
    (here / "raw_test.csv").write_text(columns.getvalue())
    (here / "packed.jsonl.gz").write_bytes(gzip.compress(json.dumps(ROW).encode()))
    write(here / "other.jsonl", {**ROW, "product": "C(OC)C", "reactants": "IC.OCC"})
    asked = [uspto(source=name).questions(0, 9, 0) for name in ("raw_test.csv", "packed.jsonl", "other.jsonl")]
    assert len({question.content_id for (question,) in asked}) == 1
    assert {(question.text, question.answer) for (question,) in asked} == {(asked[0][0].text, "CCO.CI")}
    assert "CCOC" in asked[0][0].text and ":3]" not in asked[0][0].text


def test_the_name_is_no_part_of_what_is_asked(here):
    write(here / "uspto50k.jsonl", ROW)
    one, other = (uspto(name=name).questions(0, 1, 0)[0] for name in ("uspto", "held out"))
    assert one.content_id == other.content_id and one.id != other.id
    assert "heteroatom alkylation" in one.text
    assert "heteroatom" not in uspto(tell_class=False).questions(0, 1, 0)[0].text


def test_a_split_is_chosen_by_what_rows_say(here):
    write(here / "uspto50k.jsonl", ROW, {**ROW, "product": "CCOCC", "split": "train"}, {**ROW, "product": "O", "split": ""})
    assert [len(uspto(split=name).questions(0, 9, 0)) for name in ("test", "train", "validation", "any")] == [2, 2, 1, 3]
    write(here / "uspto50k.jsonl", ROW)
    with pytest.raises(HbenchError, match="no reaction of domain.split train: there are test"):
        uspto(split="train").questions(0, 1, 0)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({**ROW, "reactants": ""}, "row 2: no reactants"),
        ({**ROW, "product": None}, "row 2: no product"),
        ({"id": "x", "class": 1}, "row 2: no product"),
        ({**ROW, "class": 11}, "row 2: class 11"),
        ({"product": "C", "reactants": "C"}, "row 2: not a reaction"),
    ],
)
def test_a_row_without_a_right_answer_is_an_error_of_the_file(here, row, told):
    write(here / "uspto50k.jsonl", ROW, row)
    with pytest.raises(HbenchError, match=told):
        uspto().questions(0, 9, 0)


def test_reactants_that_rdkit_cannot_read_are_passed_over_by_the_split(here):
    write(here / "uspto50k.jsonl", ROW, {**ROW, "product": "CCN", "reactants": "C1CC"})
    assert sorted(q.meta["gold_score"] for q in uspto().questions(0, 9, 0)) == [0.0, 1.0]
    params = {"domain": {"kind": "uspto"}, "sizes": {"training": 2}, "role": "training", "seed": 0, "allow_fewer": False}
    with pytest.raises(StepError, match="1 whose own answer fails"):
        split(params, {}, None)


def test_without_a_file_a_plan_can_be_made_and_the_message_says_what_to_do(here):
    assert uspto().to_json()["libraries"]["reactions"] == "absent"
    with pytest.raises(HbenchError, match="uspto50k.jsonl.*domain.source: authored"):
        uspto().questions(0, 1, 0)


def test_real_reactions_grade_their_own_answers(monkeypatch):
    monkeypatch.setenv("HBENCH_DATA", str(data()))
    domain = uspto(split="test")
    asked = domain.questions(0, 100, seed=0)
    assert {domain.grade_work(Work(question.answer), question)["score"] for question in asked} == {1.0}
    assert all(question.answer not in question.text for question in asked)
