"""The act step: its value, its rows both ways, and what a second try does not do again."""

from dataclasses import replace

import pytest

from hbench.core.digest import digest
from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.message import LMError
from hbench.core.prompt import load_prompt
from hbench.parts.part import build
from hbench.steps._acted_rows import acted_from_rows
from hbench.steps.harness import harness_value
from tests.runtime.acting import COPY, STUDENT, SUM, TARGET, bash, params
from tests.runtime.reviewing import verdict
from tests.steps.stage import Free, Stage, value


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    made = Stage(tmp_path_factory.mktemp("act"))
    yield made
    made.close()


def asked(count, domain=COPY, first=0):
    return value([question.to_json() for question in build("domains", domain).questions(first, first + count, 0)])


def scripted(stage, says, model=STUDENT):
    """The model answers so from now on; what it is asked."""
    lm = stage.services._lms[model.digest] = Free(says)
    return lm.asked


def copies(request):
    """A student that does the job in two turns."""
    return "Done." if len(request.messages) > 2 else bash("cp in.txt out.txt")


def ids(questions):
    return [question["id"] for question in questions.value]


def test_its_value_tells_scores_failures_and_turns(stage):
    questions = asked(3)
    seen = []

    def says(request):
        if len(request.messages) > 2:
            return "Done."
        seen.append(request)
        return bash("cp in.txt out.txt" if len(seen) != 2 else "ls")

    scripted(stage, says)
    made = stage.run("act", params(seed=1), {"questions": questions})
    assert made.value["questions"] == ids(questions) and made.value["n"] == 3
    assert sorted(made.value["scores"].values()) == [0.0, 1.0, 1.0]
    (failed,) = made.value["failed"]
    assert made.value["scores"][failed] == 0.0 and made.value["score"] == pytest.approx(2 / 3)
    assert (made.value["turns"], made.value["replaced"], made.value["completion_rate"]) == (6, 0, 1.0)
    assert made.value["harness_id"] == made.rows("harnesses")[0]["harness_id"]
    assert [row["role"] for row in made.rows("models")] == ["student"]


@pytest.mark.parametrize("size", [1, 6000])
def test_rows_give_back_every_trajectory(stage, size):
    """Small artifacts hold their rows in one file, large ones in Parquet; a JSON column must come back alike."""
    told = [verdict("replace", command="cp in.txt out.txt", reasoning="I should copy.", reason="why"), "nonsense", verdict()]

    def reviewer(request):
        return told[min(len(request.messages) // 2 - 1, 2)]

    reviewing = {
        "reviewer": replace(STUDENT, role="reviewer", identity={"kind": "scripted", "name": f"r{size}"}),
        "prompt": load_prompt("reviewer/generic").to_json(),
        "turn_prompt": load_prompt("reviewer/turn").to_json(),
    }
    scripted(stage, reviewer, reviewing["reviewer"])
    block = {**reviewing, "reviewer": reviewing["reviewer"].to_json()}
    block |= {"budget": 1, "tries": 2, "oracle": False, "when": {"kind": "always", "turns": []}}
    turns = [bash(f"echo {'x' * size}; cat in.txt"), bash("ls") * 2, bash("sleep 9"), "Done."]
    scripted(stage, lambda request: turns[min(len(request.messages) // 2 - 1, 3)])
    lived = []

    def noticed(*arguments, **more):
        setting, questions, done = arguments

        def heard(acted):
            lived.append(acted)
            done(acted)

        return services.act(setting, questions, heard, **more)

    services = stage.services.of(None, "act")
    short = {**TARGET, "command_s": 1.0, "turns": 4}
    asked_of = {"questions": asked(2)}
    made = stage.run("act", params(seed=size, repeats=2, review=block, target=short), asked_of, act=noticed)
    back = acted_from_rows(made)
    assert [(one.rollout.question_id, one.rollout.repeat) for one in back] == [(q, r) for q in ids(asked(2)) for r in (0, 1)]
    wanted = {(one.rollout.question_id, one.rollout.repeat): one for one in lived}
    for one in back:
        one.trajectory.check()
        true = wanted[one.rollout.question_id, one.rollout.repeat]
        plain = [replace(turn, failure=turn.failure and replace(turn.failure, message="")) for turn in true.trajectory.turns]
        assert one.trajectory == replace(true.trajectory, turns=tuple(plain))
        assert one.rollout == replace(true.rollout, events=())
    assert {turn.verdict for one in back for turn in one.trajectory.turns} == {"pass", "replace"}
    assert any(turn.hidden and turn.trouble == "" for one in back for turn in one.trajectory.turns)


def test_a_second_try_runs_what_is_missing_and_nothing_else(tmp_path):
    stage = Stage(tmp_path)
    stage.services.machine = replace(stage.services.machine, in_flight=1)
    questions, calls, asked_of = asked(6), [], params(seed=3)

    def breaks(request):
        calls.append(request)
        return copies(request) if len(calls) <= 7 else LMError("connection", "down")

    scripted(stage, breaks)
    with pytest.raises(StepError, match="gave no reply"):
        stage.run("act", asked_of, {"questions": questions})
    with stage.store.open(digest(["act", asked_of, {"questions": questions.digest}])) as part:
        assert [row["question_id"] for row in part.rows("rollouts")] == ids(questions)[:3]
    again = scripted(stage, copies)
    made = stage.run("act", asked_of, {"questions": questions})
    assert len(again) == 2 * 3
    assert made.value["score"] == 1.0 and len(acted_from_rows(made)) == 6
    fresh = stage.run("act", {**asked_of, "seed": 4}, {"questions": questions})
    assert fresh.value == made.value
    stage.close()


def test_only_questions_that_failed_before_are_tried_again(stage):
    questions = asked(4, first=40)
    failed = value(ids(questions)[1:3])
    scripted(stage, copies)
    made = stage.run("act", params(seed=5), {"questions": questions, "failed": failed})
    assert made.value["questions"] == failed.value
    none = stage.run("act", params(seed=5), {"questions": questions, "failed": value([])})
    assert (none.value["questions"], none.value["score"], none.value["failed"]) == ([], None, [])


def test_questions_that_were_learnt_from_are_not_measured(stage):
    same = {"questions": asked(4, first=60), "apart_0": asked(2, first=90), "apart_1": asked(3, first=62)}
    with pytest.raises(StepError, match=f"learnt from would be measured: .*{ids(asked(1, first=62))[0]}"):
        stage.run("act", params(seed=6), same)


def test_a_bank_gives_its_rollouts_its_name_and_the_target_names_plain_ones(stage):
    bank = Harness({"memory.md": "Look first.\n"})
    scripted(stage, copies)
    with_bank = stage.run("act", params(seed=7), {"questions": asked(1), "bank": value(harness_value(bank))})
    plain = stage.run("act", params(seed=7), {"questions": asked(1)})
    other = stage.run("act", params(seed=7, target={"turns": 7}), {"questions": asked(1)})
    assert with_bank.value["harness_id"] == bank.id
    assert len({made.value["harness_id"] for made in (with_bank, plain, other)}) == 3
    assert [row["path"] for row in plain.rows("harnesses")] == ["target.json"]


def test_an_answer_is_graded_and_a_wrong_one_is_no_failure(stage):
    scripted(stage, lambda request: "0")
    made = stage.run("act", params(SUM, seed=8), {"questions": asked(2, SUM)})
    assert (made.value["score"], made.value["completion_rate"], made.value["failures"]) == (0.0, 1.0, {})
