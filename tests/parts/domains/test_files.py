"""The domain `files`: what is asked, and that only the state which was asked for scores."""

import pytest
from pydantic import ValidationError

from hbench.core.trajectory import Work
from hbench.parts.domains._files_words import WORDS, words_of
from hbench.parts.domains.files import JOBS
from hbench.parts.part import build

SHARES = ("training", "tuning", "evaluation")


def domain(**fields):
    return build("domains", {"kind": "files", **fields})


def done(question):
    """The files of a folder in which the job was done."""
    after = {**question.meta["files"], **question.answer}
    return {path: text.encode() for path, text in after.items() if text is not None}


def graded(question, files):
    return domain().grade_work(Work("Done.", files), question)


ALL = domain().questions(0, 3 * len(JOBS), seed=1)
RIGHT, NOTHING_DONE = {"score": 1.0, "made": 1.0, "kept": 1.0}, {"score": 0.0, "made": 0.0, "kept": 1.0}


def test_jobs_come_in_turn_and_a_pool_is_the_same_whatever_part_is_asked_for():
    assert [question.meta["job"] for question in ALL] == list(JOBS) * 3
    assert domain().questions(0, 40, seed=1)[30:] == domain().questions(30, 40, seed=1) == ALL[30:40]
    assert domain().questions(0, 40, seed=2) != ALL[:40]


def test_no_two_questions_are_alike_and_a_job_does_not_change_with_the_jobs_beside_it():
    assert len({question.content_id for question in domain().questions(0, 1200, seed=0)}) == 1200
    alone = domain(jobs=["look_up"]).questions(0, 3, seed=1)
    assert [question.id for question in alone] == [question.id for question in ALL if question.meta["job"] == "look_up"]


def test_a_domain_of_another_name_asks_the_same_under_the_same_content_id():
    renamed = domain(name="files_new").questions(0, 5, seed=1)
    assert [question.content_id for question in renamed] == [question.content_id for question in ALL[:5]]
    assert not {question.id for question in renamed} & {question.id for question in ALL}


def test_the_shares_of_words_have_no_word_in_common_and_no_word_is_within_another():
    training, tuning, evaluation = map(words_of, SHARES)
    assert sorted(training + tuning + evaluation) == sorted(WORDS) and len(set(WORDS)) == len(WORDS)
    assert min(map(len, (training, tuning, evaluation))) > 100
    assert not [(one, other) for one in WORDS for other in WORDS if one != other and one in other]


@pytest.mark.parametrize("share", SHARES)
def test_names_and_contents_are_words_of_the_share_alone(share):
    others = {word for other in SHARES if other != share for word in words_of(other)}
    for question in domain(words=share).questions(0, 240, seed=5):
        shown = " ".join([question.text, *question.meta["files"], *question.meta["files"].values()])
        assert not others & set(shown.replace(".", " ").replace(",", " ").split())


@pytest.mark.parametrize("question", ALL, ids=lambda question: question.meta["job"])
def test_only_the_job_done_and_nothing_else_scores(question):
    files, untouched = done(question), domain().files(question)
    assert graded(question, files) == RIGHT
    assert graded(question, untouched) == NOTHING_DONE
    assert graded(question, {**files, "more.txt": b""}) == {"score": 0.0, "made": 1.0, "kept": 0.0}
    alone = next(path for path in files if path not in question.answer)
    assert graded(question, {**files, alone: files[alone] + b"\n"})["kept"] == 0.0
    assert graded(question, {path: text for path, text in files.items() if path != alone})["kept"] == 0.0
    assert graded(question, {})["score"] == 0.0


def test_a_line_end_at_the_end_of_what_was_made_is_not_asked_for_and_all_else_is():
    question = next(each for each in ALL if each.meta["job"] == "sort_numbers")
    ((path, text),) = question.answer.items()
    files = done(question)
    assert graded(question, {**files, path: text.strip().encode()}) == RIGHT
    assert graded(question, {**files, path: b" " + text.encode()})["made"] == 0.0
    assert graded(question, {**files, path: text.replace("\n", "\r\n").encode()})["made"] == 0.0
    assert graded(question, {**files, path: b"\xff\xfe"})["made"] == 0.0


def test_the_answer_is_said_neither_in_the_instruction_nor_in_a_file_that_must_be_made():
    for question in ALL:
        made = [path for path, text in question.answer.items() if text is not None]
        assert not [path for path in made if path in question.meta["files"] and question.meta["job"] != "replace_word"]
        assert not [text for text in question.answer.values() if text and text.strip() in question.text and len(text) > 4]


def test_instructions_folders_and_contents_are_short():
    for question in domain().questions(0, 480, seed=9):
        files = question.meta["files"]
        assert len(question.text) <= 110 and 2 <= len(files) <= 6
        assert all(len(text) <= 160 for text in files.values())


def test_everything_below_the_folder_is_read_back():
    assert domain().collected(ALL[0]) == ("*",)


def test_a_job_that_is_not_there_or_there_twice_is_the_authors_mistake():
    with pytest.raises(ValidationError, match="no job 'count_line' .did you mean 'count_lines'.."):
        domain(jobs=["count_line"])
    with pytest.raises(ValidationError, match="twice"):
        domain(jobs=["column", "column"])
    with pytest.raises(ValidationError):
        domain(jobs=[])
