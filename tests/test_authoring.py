"""What a newcomer does in an empty folder: a starting spec, a quick look, a bundle of somebody else's."""

import json

import pytest

from hbench.spec.quick_look import ARM
from tests.world import World

HARNESS = "def run(question, tools):\n    return ''.join(c for c in question if c.isdigit())\n"  # copies the number


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A working folder with one harness."""
    made = World(tmp_path_factory.mktemp("desk"))
    (made.folder / "mine.py").write_text(HARNESS)
    return made


@pytest.fixture(scope="module")
def said(desk) -> str:
    """What a look at it said."""
    return desk.hbench("eval", "mine.py", "toy", "rule_reader", "--limit", "3", "-q").stdout


def test_a_look_is_shown_with_how_to_see_more(said):
    assert said.splitlines()[2].split()[:2] == ["3", "1.0000"]
    assert "marked as limited: no exhibit takes it for a result" in said and "hbench trace 'quick look: mine.py on toy" in said


def test_it_is_seen_in_sql_and_marked_as_no_result(desk, said):
    (row,) = desk.sql("select spec, arm, limited, purpose, questions, score from held_out")
    assert (row["spec"], row["arm"], row["limited"]) == ("quick look: mine.py on toy by rule_reader", ARM, 3)
    assert (row["purpose"], row["questions"], row["score"]) == ("held_out", 3, 1.0)
    assert desk.sql("select * from held_out where limited is null") == []


def test_what_was_asked_once_is_not_asked_again(desk, said):
    again = desk.hbench("eval", "mine.py", "toy", "rule_reader", "--limit", "3", "-q").stderr
    assert "3 cached" in again


def test_its_harness_is_looked_at_again_by_its_id(desk, said):
    (row,) = desk.sql("select distinct harness_id from harnesses")
    told = desk.hbench("eval", row["harness_id"][:8], "{kind: toy, ask: sum}", "rule_reader", "--limit", "2", "-q").stdout
    assert told.splitlines()[2].split()[:2] == ["2", "0.0000"] and "Missed, the first of them:" in told


def test_a_domain_is_looked_at_too(desk, said):
    told = desk.hbench("eval", "target", "toy", "rule_reader", "--limit", "1", "-q").stdout
    assert told.splitlines()[2].split()[:2] == ["1", "0.0000"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("mien.py", "toy", "rule_reader"), "there is no harness 'mien.py'"),
        (("mine.py", "toi", "rule_reader"), "there is no family 'toi' (did you mean 'toy'?)"),
        (("mine.py", "toy", "rule_raeder"), "there is no model 'rule_raeder' (did you mean 'rule_reader'?"),
        (("abcd1234", "toy", "rule_reader"), "abcd1234"),
    ],
)
def test_a_mistake_is_one_message_and_exit_2(desk, said, words, told):
    done = desk.hbench("eval", *words, check=False)
    assert (done.returncode, done.stdout) == (2, "") and told in done.stderr and "Traceback" not in done.stderr


def test_a_server_that_is_not_there_is_no_score(desk, said):
    words = ("eval", "mine2.py", "toy", "some@http://127.0.0.1:9/v1", "machine.models.model.retries=0", "--limit", "1", "-q")
    (desk.folder / "mine2.py").write_text("def run(question, tools):\n    return tools.lm(question)\n")
    done = desk.hbench(*words, check=False)
    assert done.returncode == 1 and "Cannot connect to host 127.0.0.1:9" in done.stderr and done.stdout == ""


def test_a_new_spec_is_written_once_and_passes_its_check(desk):
    said = desk.hbench("new", "adaptation", "first").stdout
    assert "written: specs/first.yaml" in said and "hbench run first --limit 2" in said
    assert json.loads((desk.folder / "specs/schema/experiment.json").read_text())["title"] == "hbench experiment"
    assert "no problems" in desk.hbench("check").stdout
    done = desk.hbench("new", "adaptation", "first", check=False)
    assert (done.returncode, done.stderr) == (2, "specs/first.yaml is there already: give another name, or remove it\n")


@pytest.mark.slow
def test_a_bundle_goes_out_as_one_file_and_comes_in_again(desk):
    desk.hbench("export", "published/mini", "--duckdb", "mini.duckdb")
    said = desk.hbench("import", "mini.duckdb", "--name", "theirs").stdout
    assert "results/published/theirs" in said and "specs: training/mini_unseen" in said
    counted = "select count(*) as n from held_out"
    here, there = (json.loads(desk.hbench("sql", counted, "-f", "json", "--bundle", name).stdout) for name in ("theirs", "mini"))
    assert here == there and here[0]["n"] > 1000
    done = desk.hbench("import", "mini.duckdb", check=False)
    assert done.returncode == 2 and "there is a bundle mini already" in done.stderr
