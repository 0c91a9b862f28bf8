"""The toy domain: questions cost nothing, and what is left is compared."""

from hbench.core.trajectory import Work
from hbench.parts.part import build, kinds

COPY = build("domains", {"kind": "toy"})
SUM = build("domains", {"kind": "toy", "ask": "sum"})


def test_equal_arguments_give_equal_questions_and_no_two_are_alike():
    drawn = COPY.questions(0, 50, seed=1)
    assert drawn == COPY.questions(0, 50, seed=1)
    assert len({question.content_id for question in drawn}) == len({question.id for question in drawn}) == 50
    assert COPY.questions(10, 12, seed=1) == drawn[10:12]
    assert COPY.questions(0, 1, seed=2) != drawn[:1]


def test_a_copy_is_graded_by_the_file_and_a_sum_by_the_answer():
    copy, add = COPY.questions(0, 1, 0)[0], SUM.questions(0, 1, 0)[0]
    assert COPY.grade_work(Work(None, {"out.txt": f"{copy.answer}\n".encode()}), copy) == {"score": 1.0, "exact": 1.0}
    assert COPY.grade_work(Work(copy.answer, {}), copy)["score"] == 0.0
    assert SUM.grade_work(Work(f" {add.answer}\n"), add)["score"] == 1.0
    assert SUM.grade_work(Work(None), add)["score"] == 0.0


def test_the_files_hold_the_numbers_and_the_instruction_none():
    add = SUM.questions(3, 4, 0)[0]
    lines = SUM.files(add)["in.txt"].decode().split()
    assert sum(map(int, lines)) == int(add.answer)
    assert not any(character.isdigit() for character in add.text)
    assert SUM.collected(add) == () and COPY.collected(add) == ("out.txt",)


def test_it_is_found_by_its_kind():
    assert "toy" in kinds("domains")
    assert COPY.to_json() == {"kind": "toy", "name": "toy", "ask": "copy", "pool": 1_000_000, "version": 1}
