"""`hbench exhibit` without a name, with --spec and --all, and the query behind a cell by hand."""

import pytest
from typer.testing import CliRunner

from hbench.cli import app
from hbench.core.failure import HbenchError
from hbench.exhibits.exhibit import names, read


def said(*words: str) -> str:
    done = CliRunner().invoke(app, list(words), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_without_a_name_every_exhibit_is_listed_with_its_place_in_the_paper():
    listed = said("exhibit")
    assert [line.split()[0] for line in listed.splitlines() if line][: len(names())] == names()
    assert "Held-out score on unseen families by proposer (Harness learning, Table 9 and Figure 3)" in listed


def test_spec_tells_how_to_get_there_and_what_it_costs_at_most(tmp_path):
    told = said("exhibit", "rounds", "--spec", "--results", str(tmp_path))
    assert told.startswith("rounds: Score by round")
    assert "quickstart (3 specs, arms " in told and "0 of " in told
    assert "  hbench run quickstart\n" in told and "models: embedded/smollm2-135m-instruct" in told
    assert "at most " in told and " calls of the solver, " in told
    assert told.endswith("\nhbench exhibit rounds\n")
    assert not (tmp_path / "exhibits").exists(), "nothing is made"


def test_spec_tells_of_a_bundle_and_of_the_command_that_makes_it_anew():
    told = said("exhibit", "training_curves", "--spec")
    assert "Rows come from the bundle published/mini, which is here. It is made anew by:" in told
    assert "  hbench export training/mini_unseen --name mini" in told


def test_spec_tells_what_no_run_can_fill():
    assert "not to be had by running: claude_code: another agent's run" in said("exhibit", "distil_table2", "--spec")


@pytest.mark.parametrize("words", [("table9",), ("--bundle", "mini"), ("--spec",)])
def test_all_goes_with_no_other_choice(words):
    with pytest.raises(HbenchError, match="--all makes every exhibit from its own specs"):
        said("exhibit", "--all", *words)


def test_the_rows_behind_a_cell_are_asked_for_by_hand(tmp_path):
    block, _ = read("training_curves")
    ask = "select update, reward from units where stage = 'rl' and arm = 'rl_0' order by all"
    rows = said("sql", "--exhibit", "training_curves", ask, "--format", "csv", "--results", str(tmp_path)).splitlines()
    assert rows[0] == "update,reward" and len(rows) == 25
    with pytest.raises(HbenchError, match="drop is refused"):
        said("sql", "--exhibit", "training_curves", "drop table units", "--results", str(tmp_path))
    assert block.from_ == ["published/mini training/mini_unseen"]
