"""What a rank judges becomes rows of its own file; the driver merges them. The solver is the driver's, over its server."""

import json
import socket
import time

import pytest

from hbench.core.digest import Json
from hbench.core.harness import Harness
from hbench.core.output import Output
from hbench.core.training import Response, Task, TrainingJob
from hbench.runtime.services import Machine
from hbench.runtime.training.job import SERVED, read_job, write_job
from hbench.runtime.training.launch import _collected
from hbench.runtime.training.rank import Judge
from hbench.runtime.training.reach import RankServices
from hbench.runtime.training.rows import RankRows, lines, means, rows_file
from hbench.spec.machine import TrainingBlock
from hbench.steps.edit_reward import EditReward
from hbench.steps.harness import harness_value
from hbench.steps.run_setting import model_ref
from hbench.steps.train_grpo import reward_of
from hbench.store.artifacts import Store, StepRecord
from hbench.store.tables import TABLES
from tests.runtime.tiny_training import Appended
from tests.steps.stage import EDIT, PROMPT, REPORT, TERMS, Stage, context, questions, setting
from tests.world import ASKS_TWICE, HARNESS, MISSES, PROSE, SOLVES

PARENT = harness_value(Harness.of(HARNESS).tidied())
RECIPE = {"updates": 2, "prompts": 2, "group": 4}
ANSWERS = SOLVES.replace("    tools.lm(question)\n", "").replace("sum(int(n) for n in ", "len(")
SAID = [SOLVES, MISSES, SOLVES, ASKS_TWICE]  # the third equals the first


def reward(solver: Json) -> Json:
    params = {"families": {"toy": setting(solver)}, "edit": EDIT, "terms": TERMS, "no_change": "form_only",
              "report": REPORT, "prompt": PROMPT, "recipe": RECIPE}  # fmt: skip
    return reward_of(params, {"questions_toy": questions(5)}, [context(PARENT), context(PARENT, 1)])


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    """A driver with a recorded solver."""
    made = Stage(tmp_path_factory.mktemp("driver"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def solver(stage):
    return stage.records("solver", {"reply": [str(n) for n in range(0, 2_000_000, 250_001)]})


@pytest.fixture
def job_file(stage, solver, tmp_path):
    """The job of two ranks, as the driver writes it."""
    training = TrainingBlock(processes=2).to_json()
    machine = Machine(stage.folder / "results", stage.services.machine.models, training=training)
    model = model_ref({"role": "proposer", "identity": {"weights": "tiny"}, "sampling": {}})
    job = TrainingJob("grpo", model, RECIPE, 1, prompts=[], reward=reward(solver))
    write_job(tmp_path / "job.json", job, machine, stage.services.serve("step"))
    return tmp_path / "job.json"


def judged(job_file, rank, *updates, said=SAID):
    """One rank judges `said` in each of `updates`; the rewards of the last."""
    told = read_job(job_file)
    services = RankServices(told.machine)
    task = told.task(job_file.parent, rank, 2)
    try:
        judge = Judge(told, task, services, RankRows(rows_file(job_file.parent, rank)))
        for update in updates:
            rewards = judge(update, [rank] * len(said), [Response(text, "stop", len(text)) for text in said], None)
    finally:
        services.close()
    return rewards


def table(folder, name):
    return [row for rows in lines(folder) for row in rows.get(name, ())]


def test_completions_are_numbered_by_update_rank_and_index(job_file):
    for rank in (0, 1):
        judged(job_file, rank, 1, 2)
    found = table(job_file.parent, "completions")
    places = {row["candidate"]: (row["update"], row["rank"], row["index"]) for row in found}
    assert sorted(places) == list(range(16)) and len(found) == 16
    assert places[0] == (1, 0, 0) and places[5] == (1, 1, 1) and places[15] == (2, 1, 3)
    assert {row["context"] for row in found if row["rank"] == 1} == {1}
    assert found[0]["completion_tokens"] == len(SOLVES)


def test_equal_candidates_are_run_once_and_say_whose_run_counts(job_file):
    judged(job_file, 1, 2)
    found = {row["index"]: row for row in table(job_file.parent, "completions")}
    first = found[0]["candidate"]
    assert [found[i].get("same_as") for i in range(4)] == [None, None, first, None]
    assert found[2]["reward"] == found[0]["reward"]
    ran = {row["candidate"] for row in table(job_file.parent, "rollouts")}
    assert ran == {first, found[3]["candidate"]}
    assert {row["candidate"] for row in table(job_file.parent, "reward_terms")} == {first + i for i in range(4)}


def test_an_update_that_judges_in_parts_goes_on_counting(job_file):
    judged(job_file, 0, 1, 1, said=SAID[:2])
    assert [row["candidate"] for row in table(job_file.parent, "completions")] == [0, 1, 2, 3]


def test_a_rank_gets_what_the_driver_would_have_got_down_to_the_request(stage, solver, job_file):
    """Terms, answers and request ids: the rank asks over HTTP, the driver in its own process."""
    rewards = judged(job_file, 0, 1)
    here = EditReward(reward(solver), stage.services.of(None, ""), 60)
    asked = [(0, Response(text)) for text in SAID]
    ours = here(asked)
    assert rewards == [one.reward for one in ours]
    wanted = {}
    for i, (one, (_, response)) in enumerate(zip(ours, asked, strict=True)):
        for name, some in here.rows(one, response, i).items():
            wanted.setdefault(name, []).extend(some)
    for name in ("reward_terms", "rollouts", "grades", "events"):
        assert stable(name, table(job_file.parent, name)) == stable(name, wanted[name]), name
    assert any(row["kind"] == "lm" for row in wanted["events"])


def stable(name, rows):
    """Rows without what no two runs have in common, sorted, with nulls left out."""
    volatile = TABLES[name].volatile
    kept = [{k: v for k, v in row.items() if k not in volatile and v is not None} for row in rows]
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in kept)


def test_a_solver_that_is_down_gives_no_reward_and_says_why(job_file):
    told = json.loads(job_file.read_text())
    for _, reach in told["machine"]["models"]:
        reach[SERVED] = "http://127.0.0.1:9/v1"
    job_file.write_text(json.dumps(told))
    rewards = judged(job_file, 0, 1, said=[ASKS_TWICE, PROSE])
    asks, prose = table(job_file.parent, "completions")
    assert rewards[0] is None and rewards[1] == pytest.approx(0.0)
    assert "reward" not in asks and "gave no reply" in asks["trouble"] and "trouble" not in prose


def test_no_step_waits_for_a_straggler_beyond_its_limit(job_file):
    """The server takes the question and never answers; the others are judged, and the next update is not held up either."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        told = json.loads(job_file.read_text())
        told["training"]["reward_timeout_s"] = 2.0
        for _, reach in told["machine"]["models"]:
            reach[SERVED] = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        job_file.write_text(json.dumps(told))
        began = time.monotonic()
        rewards = judged(job_file, 0, 1, 2, said=[ASKS_TWICE, ANSWERS, PROSE])
        assert time.monotonic() - began < 2 * 2.0 + 4
    assert rewards == [None, pytest.approx(0.3), pytest.approx(0.0)]
    assert {row.get("trouble") for row in table(job_file.parent, "completions")} == {None, "no end within 2 s"}


def test_the_ranks_ask_the_driver_for_every_model(tmp_path):
    """One process keeps the limits of a server and of the budget; the key to the server is nobody else's."""
    model = model_ref({"role": "solver", "identity": {"weights": "m"}, "sampling": {}})
    reach = {"base_url": "http://127.0.0.1:9/v1", "requests_per_minute": 100, "api_key_env": "KEY"}
    machine = Machine(tmp_path, {model.digest: (model, reach)}, in_flight=64, training=TrainingBlock(processes=4).to_json())
    write_job(tmp_path / "job.json", TrainingJob("grpo", model, RECIPE, 1), machine, "http://127.0.0.1:8/secret/key")
    found = read_job(tmp_path / "job.json").machine
    assert found.in_flight == 16
    assert found.models[model.digest][1] == {SERVED: "http://127.0.0.1:8/secret/key"}


def test_a_job_is_read_as_it_was_written(tmp_path):
    model = model_ref({"role": "proposer", "identity": {"weights": "m", "dtype": "float32"}, "sampling": {"stop": ["x"]}})
    trained = model.trained({"kind": "adapter", "sha256": "a" * 64}, tmp_path)
    job = TrainingJob("sft", trained, {"updates": 1}, 2**63 - 1, rows=tmp_path / "rows.jsonl", reward={"a": "\ud800"})
    write_job(tmp_path / "job.json", job, Machine(tmp_path, training=TrainingBlock().to_json()), None)
    found = read_job(tmp_path / "job.json").job
    assert found == TrainingJob(job.method, found.model, job.recipe, job.seed, job.rows, [], job.reward)
    assert found.model == trained and found.model.base == model.identity


def test_the_merge_takes_the_means_over_all_ranks():
    completions = [{"candidate": i, "update": 1 + i // 4, "reward": 0.5} for i in range(8)]
    completions[7]["reward"] = None  # no signal: counts nowhere
    candidates = [{"candidate": i, "outcome": ("applied", "no_block")[i % 2]} for i in range(8)]
    terms = [{"candidate": i, "term": "task_score", "value": float(i % 4 == 0)} for i in range(8)]
    assert means(completions, candidates, terms) == [
        {"update": 1, "name": "failed_share", "value": 0.5},
        {"update": 1, "name": "task_score", "value": 0.25},
        {"update": 2, "name": "failed_share", "value": pytest.approx(1 / 3)},
        {"update": 2, "name": "task_score", "value": pytest.approx(1 / 3)},
    ]


def test_an_explicit_no_change_is_no_failure():
    """As in every exhibit: it parsed, and says that there is nothing to do."""
    outcomes = ("applied", "no_change", "no_block", "search_not_found")
    completions = [{"candidate": i, "update": 1, "reward": 0.0} for i in range(4)]
    candidates = [{"candidate": i, "outcome": outcome} for i, outcome in enumerate(outcomes)]
    assert means(completions, candidates, []) == [{"update": 1, "name": "failed_share", "value": 0.5}]


def test_a_value_that_is_no_number_is_null_and_times_are_kept_apart(tmp_path):
    rows = RankRows(rows_file(tmp_path, 0))
    for name, value in (("kl", float("nan")), ("loss", float("inf")), ("reward", 0.5), ("reward_share", 0.1)):
        rows.note(3, name, value)
    assert table(tmp_path, "updates") == [
        {"update": 3, "name": "kl"},
        {"update": 3, "name": "loss"},
        {"update": 3, "name": "reward", "value": 0.5},
        {"update": 3, "name": "reward_share", "measured": 0.1},
    ]


def test_all_that_ranks_wrote_is_in_the_steps_artifact(job_file, tmp_path):
    """What the step does not read goes straight into its part folder: memory does not grow with the training."""
    for rank in (0, 1):
        judged(job_file, rank, 1, 2)
    folder = job_file.parent
    (folder / "trained.json").write_text(json.dumps({"checkpoint": {"kind": "adapter", "base": {}, "sha256": "0"}, "updates": 2}))
    part = Appended(tmp_path / "part")
    made = _collected(folder, part)
    assert set(made.rows) == {"updates", "completions", "candidates", "reward_terms"}
    assert set(part.tables) == {"rollouts", "grades", "events", "texts", "harnesses"}
    store = Store(tmp_path / "store")
    with store.open("ab" * 32) as unfinished:
        for _ in range(2):  # a try that was killed behind the merge does it again
            again = _collected(folder, unfinished)
        artifact = unfinished.commit(Output(None, again.rows), StepRecord("train_grpo", 1, {}, 0.0))
    assert len(artifact.rows("completions")) == 16 and len(artifact.rows("rollouts")) == 2 * 2 * 2 * 5
    assert {row["name"] for row in artifact.rows("updates")} == {*TERMS, "failed_share"}


def test_a_task_is_the_job_as_one_process_sees_it(job_file):
    task = read_job(job_file).task(job_file.parent, 1, 2)
    assert isinstance(task, Task) and (task.rank, task.processes, task.machine["processes"]) == (1, 2, 2)
