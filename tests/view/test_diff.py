"""Two harnesses side by side: on the page, in the terminal, from results, files and folders."""

from typer.testing import CliRunner

from hbench.cli import app
from hbench.view.file_diffs import file_diffs
from tests.store.made import key
from tests.view.told import MADE, PARENT


def said(*words):
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


def test_changed_words_stand_apart_in_a_changed_line():
    (diff,) = file_diffs({"a": "x = ask(question)\n"}, {"a": "x = ask(question, warm)\n"})
    went, came = diff.hunks[0]
    assert [text for text, changed in came.pieces if changed] == [", warm"]
    assert (went.sort, went.old, went.new, came.sort, came.old, came.new) == ("-", 1, None, "+", None, 1)


def test_lines_that_went_stand_before_those_that_came():
    (diff,) = file_diffs({"a": "1\n2\n3\n4\n"}, {"a": "1\ntwo\nthree\n4\n"})
    assert [line.sort for line in diff.hunks[0]] == [" ", "-", "-", "+", "+", " "]


def test_files_that_only_one_has_are_whole():
    added, removed = file_diffs({"b": "1\n"}, {"a": "1\n2\n", "c": ""})[:2]
    assert (added.fate, added.count("+")) == ("added", 2)
    assert (removed.fate, removed.count("-")) == ("removed", 1)


def test_equal_files_have_no_diff_and_an_enormous_one_is_not_compared():
    assert file_diffs({"a": "1\n"}, {"a": "1\n"}) == ()
    big = "".join(f"{n}\n" for n in range(30_000))
    (diff,) = file_diffs({"a": big}, {"a": big + "more\n"})
    assert diff.count("+") == 30_001


def test_two_harnesses_of_the_results_by_how_they_begin_or_by_their_candidate(told_folder):
    told = said("diff", PARENT.id[:8], MADE.id[:8], "--results", told_folder)
    assert "+    return tools.lm(question, temperature=1)" in told
    assert said("diff", PARENT.id, f"{key('propose')[:8]}.0", "--results", told_folder) == told


def test_a_harness_against_a_file_and_folders_against_each_other(told_folder, tmp_path):
    (tmp_path / "mine.py").write_text(MADE.text)
    assert "The two are the same." in said("diff", MADE.id, tmp_path / "mine.py", "--results", told_folder)
    for name in ("one", "two"):
        (tmp_path / name / "tools").mkdir(parents=True)
        (tmp_path / name / "tools" / "look.py").write_text(f"# {name}\n")
    told = said("diff", tmp_path / "one", tmp_path / "two", "--results", told_folder)
    assert "tools/look.py" in told and "-# one" in told and "+# two" in told


def test_the_page_shows_two_harnesses_and_the_form_leads_there(told_page):
    told = told_page.get(f"/diffs/{PARENT.id}/{MADE.id[:8]}")
    assert told.status == 200 and "&lt;script&gt;" in told.text and "# <script>" not in told.text
    led = told_page.get(f"/diffs?before={PARENT.id[:8]}&after={MADE.id[:8]}")
    assert (led.status, led.headers["location"]) == (303, f"/diffs/{PARENT.id}/{MADE.id}")
    assert told_page.get("/diffs?before=&after=").status == 404
    assert told_page.get(f"/diffs/{PARENT.id}/nothing").status == 404
