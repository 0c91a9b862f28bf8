"""The reward of a completion: what adaptation records, for the same response; no signal where the machine is at fault."""

import time

import pytest

from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.rollout import Rollout
from hbench.core.training import Response
from hbench.steps.edit_reward import EditReward
from hbench.steps.harness import harness_value
from hbench.steps.train_grpo import reward_of
from tests.steps.stage import EDIT, PROMPT, REPORT, TERMS, Stage, context, port, questions, setting, value
from tests.world import ASKS_TWICE, HARNESS, MISSES, PROSE, SOLVES

pytestmark = pytest.mark.truth
PARENT = harness_value(Harness.of(HARNESS).tidied())


def edit(code: str, search: str = "    return reply.strip()") -> str:
    return f"Change it.\n<<<<<<< SEARCH\n{search}\n=======\n{code}\n>>>>>>> REPLACE\n"


SAME = edit("    return reply.strip()  ")
HALF = edit("    import re\n    n = [int(x) for x in re.findall(r'\\d+', question)]\n    return str(sum(n) + n[0] % 2)")
CRASHES = edit("    raise ValueError(question)")
SOMETIMES_CRASHES = edit("    import re\n    n = int(re.findall(r'\\d+', question)[0])\n    return str(1 // (n % 2))")
EMPTY = edit("    return ''")
RESPONSES = {"solves": SOLVES, "half": HALF, "asks twice": ASKS_TWICE, "crashes": CRASHES, "prose": PROSE, "misses": MISSES,
             "sometimes crashes": SOMETIMES_CRASHES, "answers nothing": EMPTY, "changes nothing": SAME}  # fmt: skip


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    made = Stage(tmp_path_factory.mktemp("reward"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def solver(stage):
    return stage.records("solver", {"reply": [str(n) for n in range(0, 2_000_000, 250_001)]})


def told(run: dict, no_change="form_only", contexts=None, **recipe):
    """What a train_grpo step hands to the reward."""
    params = {"families": {"toy": run}, "edit": EDIT, "terms": TERMS, "no_change": no_change, "report": REPORT,
              "prompt": PROMPT, "recipe": recipe}  # fmt: skip
    inputs = {"questions_toy": questions(9), "feedback_toy": questions(4, 100)}
    return reward_of(params, inputs, contexts or [context(PARENT)])


@pytest.mark.parametrize("no_change", ["form_only", "as_parent"])
@pytest.mark.parametrize("name", RESPONSES)
def test_a_response_earns_in_training_what_adaptation_records_term_by_term(stage, solver, name, no_change):
    response, run = RESPONSES[name], setting(solver, repeats=2, grade="exact")
    proposer = stage.records("proposer", {"reply": response})
    params = {"proposer": proposer, "prompt": PROMPT, "edit": EDIT, "family": {"name": "toy", "description": "Add."}}
    candidate = stage.run("propose", {**params, "seed": 0}, {"report": value({"text": "Score 0.", "harness": PARENT})})
    scoring = questions(9)
    trial = stage.run("evaluate", run, {"harness": port(candidate, "harness"), "questions": scoring})
    parent = stage.run("evaluate", run, {"harness": value(PARENT), "questions": scoring})
    rewarding = {"terms": TERMS, "no_change": no_change, "grade": "exact"}
    adapted = stage.run("reward", rewarding, {"candidate": candidate, "trial": trial, "parent": parent}).value

    part = stage.store.open(f"{name} {no_change}".encode().hex().ljust(64, "0"))
    with part:
        reward = EditReward(told(run, no_change), stage.services.of(part, "train"))
        trained = reward([(0, Response(response))])[0]
    assert trained.terms == adapted["terms"] and trained.reward == adapted["reward"]
    if trained.candidate.applied:
        assert trained.candidate.task_score == trial.value["score"]


class Machine:
    """Runs no harness: says what each scores, as its source tells (score = …), and counts."""

    def __init__(self, down=(), slow=()):
        self.down, self.slow, self.runs = down, slow, []

    def run_harness(self, harness, questions, setting, done, skip=frozenset()):
        self.runs.append(harness.text)
        if any(word in harness.text for word in self.down):
            raise StepError("the solver gave no reply (connection): refused")
        if any(word in harness.text for word in self.slow):
            time.sleep(2)
        for question in questions:
            done(Rollout(harness.id, question.id, 0, "1", {"score": 0.5, "exact": 0.25}, True))


SETTING = setting({"role": "solver", "identity": {"kind": "x"}, "sampling": {"temperature": 0.0, "max_tokens": 5}})


def judged(machine, *responses, limit_s=None, generate=None, **changed):
    reward = EditReward(told(SETTING, **changed), machine, limit_s)
    return reward([(0, Response(r) if isinstance(r, str) else r) for r in responses], generate)


def test_the_grade_that_the_spec_names_is_the_score():
    reward = EditReward(told({**SETTING, "grade": "exact"}), Machine())
    assert reward([(0, Response(edit("    return 'a'")))])[0].terms["task_score"] == 0.25


def test_equal_candidates_of_a_group_are_run_once():
    machine = Machine()
    one, two, other = judged(machine, edit("    return 'a'"), edit("    return 'a'   "), edit("    return 'b'"))
    assert (one.same_as, two.same_as, other.same_as) == (None, 0, None)
    assert len(machine.runs) == 2 and one.reward == two.reward == pytest.approx(0.80)


def test_failed_edits_run_nothing_and_are_nobodys_equal():
    machine = Machine()
    found = judged(machine, PROSE, PROSE, MISSES)
    assert machine.runs == [] and [one.same_as for one in found] == [None] * 3
    assert [one.reward for one in found] == [0.0, 0.0, 0.05]


def test_a_broken_service_is_no_signal_and_spares_the_others():
    found = judged(Machine(down=["'down'"]), edit("    return 'down'"), edit("    return 'up'"))
    assert found[0].reward is None and found[0].terms is None and "refused" in found[0].trouble
    assert found[1].reward == pytest.approx(0.80) and found[1].trouble is None


def test_a_trial_that_takes_too_long_is_no_signal_and_nobody_waits_for_it():
    began = time.monotonic()
    late, there = judged(Machine(slow=["'slow'"]), edit("    return 'slow'"), edit("    return 'fast'"), limit_s=0.5)
    assert time.monotonic() - began < 1.5
    assert late.reward is None and "0.5 s" in late.trouble and there.reward == pytest.approx(0.80)


def test_a_group_is_run_at_the_same_time():
    began = time.monotonic()
    judged(Machine(slow=["'s"]), *(edit(f"    return 's{i}'") for i in range(8)))
    assert time.monotonic() - began < 4


def test_a_bug_is_no_missing_reward():
    class Broken(Machine):
        def run_harness(self, *_, **__):
            raise KeyError("a bug")

    with pytest.raises(KeyError):
        judged(Broken(), edit("    return 'a'"))


def test_a_parent_that_stands_for_its_candidates_is_run_once_in_all_updates():
    machine = Machine()
    reward = EditReward(told(SETTING, "as_parent"), machine)
    for _ in range(3):
        assert [one.reward for one in reward([(0, Response(SAME)), (0, Response(SAME))])] == [pytest.approx(0.80)] * 2
    assert len(machine.runs) == 1


def test_a_cut_response_is_a_failed_edit():
    one = judged(Machine(), Response(SOLVES[:40], "length"))[0]
    assert one.reward == 0.0 and one.candidate.failure.boundary == "parse"


def test_rows_of_rollouts_stand_under_the_candidate_that_ran():
    reward = EditReward(told(SETTING), Machine())
    response = Response(edit("    return 'a'"))
    first, second = reward([(0, response), (0, response)])
    mine, equal = reward.rows(first, response, 8, completion_tokens=5), reward.rows(second, response, 9)
    assert {row["candidate"] for table in ("candidates", "rollouts", "reward_terms") for row in mine[table]} == {8}
    assert len(mine["rollouts"]) == 9 and "rollouts" not in equal and equal["candidates"][0]["candidate"] == 9
    assert mine["candidates"][0]["completion_tokens"] == 5


DISCOUNTED = {"credit": {"kind": "discounted", "discount": 0.5, "horizon": 2}}


class Policy:
    """Answers every prompt with the next of these texts, and remembers what it was asked."""

    def __init__(self, *texts):
        self.texts, self.asked = list(texts), []

    def __call__(self, prompts):
        self.asked.append(prompts)
        return [Response(self.texts.pop(0)) for _ in prompts]


def test_discounted_credit_adds_what_the_policy_makes_of_the_candidate():
    policy = Policy(edit("    return 'b'", "    return 'a'"), edit("    return 'c'", "    return 'b'"))
    (one,) = judged(Machine(), edit("    return 'a'"), generate=policy, **DISCOUNTED)
    assert one.reward == pytest.approx(0.80 + 0.5 * 0.80 + 0.25 * 0.80) and one.further == pytest.approx(0.60)
    assert one.terms["task_score"] == 0.5
    first, second = (asked[0] for asked in policy.asked)
    assert "return 'a'" in first[-1]["content"] and "return 'b'" in second[-1]["content"]
    assert "Change it." in first[-1]["content"], "the report tells the edit that led here"


def test_the_next_revision_reads_a_report_on_feedback_questions_alone():
    policy = Policy(PROSE)
    judged(Machine(), edit("    return 'a'"), generate=policy, **DISCOUNTED)
    text = policy.asked[0][0][-1]["content"]
    asked = [question["text"] for question in questions(4, 100).value]
    scored = [question["text"] for question in questions(9).value]
    assert any(question in text for question in asked) and not any(question in text for question in scored)


def test_a_failed_edit_has_no_further_revision():
    policy = Policy(PROSE)
    prose, applied = judged(Machine(), PROSE, edit("    return 'a'"), generate=policy, **DISCOUNTED)
    assert (prose.reward, prose.further) == (0.0, 0.0) and applied.further == 0.0
    assert [len(prompts) for prompts in policy.asked] == [1, 0], "each rank asks once a level"


def test_equal_candidates_share_what_is_made_of_them():
    policy = Policy(edit("    return 'b'", "    return 'a'"), PROSE)
    one, two = judged(Machine(), edit("    return 'a'"), edit("    return 'a'"), generate=policy, **DISCOUNTED)
    assert one.reward == two.reward == pytest.approx(0.80 + 0.40) and two.same_as == 0


def test_trouble_further_down_leaves_no_reward():
    policy = Policy(edit("    return 'down'", "    return 'a'"), edit("    return 'x'", "    return 'b'"), PROSE)
    machine = Machine(down=["'down'"])
    lost, kept = judged(machine, edit("    return 'a'"), edit("    return 'b'"), generate=policy, **DISCOUNTED)
    assert lost.reward is None and "refused" in lost.trouble and kept.reward == pytest.approx(1.20)
