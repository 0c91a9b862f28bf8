"""The command line: quick to help, plain about mistakes, exit codes that scripts can use."""

import csv
import io
import json
import re
import shutil
import subprocess
import sys

import pytest

from tests.world import make_world


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """The toy spec, run once."""
    made = make_world(tmp_path_factory.mktemp("cli"))
    made.hbench("run", "specs/toy.yaml", "-q")
    return made


def test_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['hbench', '--help']\n"
        "from hbench.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = ('torch', 'transformers', 'duckdb', 'pydantic', 'omegaconf', 'aiohttp', 'numpy', 'reasoning_gym', 'rich')\n"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_it_says_which_version_it_is_and_on_what(world):
    told = world.hbench("--version").stdout
    assert told.startswith("hbench ") and ", python 3." in told and ", duckdb " in told


@pytest.mark.parametrize("command", ["check", "plan", "sql"])
def test_no_command_but_run_loads_torch(world, command):
    words = {"check": ["check"], "plan": ["plan", "specs/toy.yaml"], "sql": ["sql", "select 1"]}[command]
    code = f"import sys; sys.argv = ['hbench', *{words!r}]\nfrom hbench.cli import main\ntry: main()\nexcept SystemExit: pass\nprint('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=world.folder, capture_output=True, text=True)
    assert done.stdout.strip().endswith("False"), done.stdout + done.stderr


def test_a_mistake_in_a_spec_is_told_without_a_traceback(world):
    (world.folder / "specs/wrong.yaml").write_text("plan: adaptation\nroundz: 3\nfamily: {kind: toi}\n")
    done = world.hbench("run", "specs/wrong.yaml", check=False)
    (world.folder / "specs/wrong.yaml").unlink()
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "specs/wrong.yaml:2:1: unknown key 'roundz' (did you mean 'rounds'?)" in done.stderr
    assert "specs/wrong.yaml:3:16" in done.stderr or "specs/wrong.yaml:3:" in done.stderr


def test_check_says_what_is_wrong_and_exits_with_2(world):
    (world.folder / "specs/odd.yaml").write_text("colour: red\n")
    done = world.hbench("check", check=False)
    (world.folder / "specs/odd.yaml").unlink()
    assert done.returncode == 2 and "specs/odd.yaml" in done.stderr
    assert "1 experiments (1 points, 3 arms)" in world.hbench("check").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("run", "nothere"),
        ("plan", "nothere"),
        ("exhibit", "nothere"),
        ("compare", "nothere:a", ":b"),
        ("sql", "selec 1"),
        ("schema", "nothing"),
    ],
)
def test_what_is_not_there_is_one_message_and_exit_2(world, words):
    done = world.hbench(*words, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr and done.stderr.strip()


def test_a_writing_statement_is_refused(world):
    done = world.hbench("sql", "delete from rollouts", check=False)
    assert done.returncode == 2 and "refused" in done.stderr


def test_sql_prints_table_csv_json_and_markdown(world):
    query = "select arm, count(*) as n from plan_labels group by arm order by arm"
    rows = json.loads(world.hbench("sql", query, "--format", "json").stdout)
    assert [row["arm"] for row in rows] == ["independent", "seed", "sequential"]
    read = list(csv.DictReader(io.StringIO(world.hbench("sql", query, "--format", "csv").stdout)))
    assert [(row["arm"], int(row["n"])) for row in read] == [(row["arm"], row["n"]) for row in rows]
    assert world.hbench("sql", query, "--format", "markdown").stdout.startswith("| arm")
    assert "independent" in world.hbench("sql", query).stdout


def test_sql_alone_is_a_prompt(world):
    done = subprocess.run(
        [sys.executable, "-m", "hbench", "sql"],
        cwd=world.folder,
        input="select 40 + 2 as answer\nnonsense\nselect 1 as one\nexit\n",
        capture_output=True,
        text=True,
    )
    assert "42" in done.stdout and "one" in done.stdout and done.returncode == 0


def test_sql_without_results_says_what_to_do(tmp_path):
    done = make_world(tmp_path).hbench("sql", "select 1", check=False)
    assert done.returncode == 2 and "hbench run" in done.stderr


def test_the_plan_of_a_finished_spec_is_all_cached(world):
    text = world.hbench("plan", "specs/toy.yaml").stdout
    assert "nothing is left to run" in text and " to run" not in text.splitlines()[0]


def test_runs_lists_the_newest_first(world):
    listed = world.hbench("runs").stdout
    assert "finished" in listed and "toy" in listed


@pytest.mark.slow
def test_every_exhibit_can_be_regenerated(world):
    for name in ("proposal_quality", "rounds"):
        said = world.hbench("exhibit", name, "specs/toy.yaml").stdout
        assert "| seed" in said
        for ending in ("md", "csv", "tex"):
            assert (world.folder / f"results/exhibits/{name}.{ending}").read_text()
    cells = world.sql("select exhibit, count(*) as n from exhibit_cells group by exhibit order by exhibit")
    assert [row["exhibit"] for row in cells] == ["proposal_quality", "rounds"]


@pytest.mark.slow
def test_two_arms_are_set_against_each_other(world):
    said = world.hbench("compare", "specs/toy.yaml:sequential", ":seed", "--flips", "0").stdout
    assert "A  specs/toy.yaml:sequential  the harness after 3 rounds" in said and "all  6 questions" in said
    made = json.loads(world.hbench("compare", "specs/toy.yaml", "--arm", "independent", "--arm", "seed", "-f", "json").stdout)
    rows = world.sql("select score from held_out where arm = 'seed' and purpose = 'held_out'")
    assert made["whole"]["theirs"] == rows[0]["score"]


def test_tables_kinds_and_schema_are_printed(world):
    assert "rollouts" in world.hbench("tables").stdout
    kinds = world.hbench("kinds").stdout
    assert "strict_improvement" in kinds and "reasoning_gym" in kinds
    assert json.loads(world.hbench("schema").stdout)


def test_the_database_can_be_made_anew_from_the_steps(world):
    count = "select count(*) as n from rollouts"
    before = world.sql(count)
    for file in world.folder.glob("results/*.duckdb"):
        file.unlink()
    world.hbench("db", "rebuild")
    assert world.sql(count) == before and before[0]["n"] > 0


def test_doctor_says_what_is_here(world):
    said = world.hbench("doctor", check=False).stdout
    for name in ("jail", "cores", "memory", "GPU", "embedded model", "extra local"):
        assert name in said
    assert "does not protect from" in said


@pytest.mark.slow
def test_a_bundle_is_written_and_read_in_place_of_the_results(world, tmp_path):
    said = world.hbench("export", "toy", "--name", "mini").stdout
    assert "rows/rollouts.parquet" in said and re.search(r"results/published/mini: 0\.\d MB in \d+ files", said)
    query = "select arm, purpose, score from held_out order by all"
    for from_bundle in (["--bundle", "mini"], ["--results", "results/published/mini"]):
        assert world.hbench("sql", query, *from_bundle).stdout == world.hbench("sql", query).stdout
    elsewhere = make_world(tmp_path)
    shutil.copytree(world.folder / "results/published", tmp_path / "results/published")
    for words in (["toy", "--bundle", "mini"], ["published/mini"]):
        table = elsewhere.hbench("exhibit", "proposal_quality", *words).stdout
        assert "| sequential " in table and "From the bundle mini of" in table


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export", "toy", "--max-mb", "0.001"], "more than --max-mb 0.001"),
        (["export", "toy", "--without", "roll_outs"], "--without roll_outs"),
        (["export", "nothere"], "there is no such spec"),
        (["sql", "select 1", "--bundle", "nothere"], "no bundle 'nothere'"),
        (["exhibit", "rounds", "toy", "--bundle", "nothere"], "no bundle 'nothere'"),
        (["model", "export", "0123", "out"], "no step in results/ has a key that begins with '0123'"),
    ],
)
def test_what_cannot_be_exported_or_read_is_one_message_and_exit_2(world, words, said):
    done = world.hbench(*words, check=False)
    assert done.returncode == 2 and "Traceback" not in done.stderr and said in done.stderr


def test_what_is_not_trained_is_not_taken_out(world):
    key = world.sql("select step_key from steps where kind = 'evaluate' order by 1 limit 1")[0]["step_key"]
    done = world.hbench("model", "export", key, "out", check=False)
    assert done.returncode == 2 and f"{key} is no training step (evaluate)" in done.stderr


@pytest.mark.slow
def test_one_arm_runs_alone_and_the_whole_spec_then_reuses_it(tmp_path):
    world = make_world(tmp_path)
    world.hbench("run", "specs/toy.yaml", "-q", "--arm", "seed")
    assert [row["arm"] for row in world.sql("select distinct arm from plan_labels")] == ["seed"]
    assert "arm sequential" not in world.hbench("plan", "specs/toy.yaml", "--arm", "seed").stdout
    assert " cached" in world.hbench("plan", "specs/toy.yaml").stdout
    wrong = world.hbench("run", "specs/toy.yaml", "--arm", "sede", check=False)
    assert wrong.returncode == 2 and "toy has no arm 'sede' (did you mean 'seed'?)" in wrong.stderr
