"""A student at work under review, or with a bank: what takes effect, and who knows of what."""

import pytest

from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.message import LMError, Reply
from tests.runtime.acting import SUM, Played, bash, play, question, told
from tests.runtime.reviewing import review, verdict

RIGHT = verdict("replace", command="cp in.txt out.txt", reasoning="I should copy it whole.", reason="it writes nothing")
PASS = verdict("pass", reason="fine as it is")


def test_what_the_reviewer_puts_in_place_runs_and_is_all_that_the_student_remembers():
    played = Played([bash("cat in.txt"), "Done."], review=review(), verdicts=[RIGHT, PASS])
    acted = played.play()
    first, last = acted.trajectory.turns
    assert acted.rollout.grades["score"] == 1.0
    assert (first.verdict, first.proposal, last.verdict) == ("replace", bash("cat in.txt"), "pass")
    assert "cp in.txt out.txt" in first.accepted and first.reason == "it writes nothing" and first.tries == 1
    said = "".join(message.content for message in played.student.asked[1].messages)
    assert first.accepted in said and "cat in.txt" not in said and "it writes nothing" not in said
    assert [event.role for event in acted.rollout.events] == ["student", "reviewer", "student", "student", "reviewer"]


def test_the_reviewers_draws_are_its_own_and_the_students_are_those_without_a_review():
    reviewed = Played([bash("cat in.txt"), "Done."], review=review(), verdicts=[PASS, PASS])
    alone = Played([bash("cat in.txt"), "Done."])
    assert reviewed.play().trajectory.messages == alone.play().trajectory.messages
    assert [request.seed for request in reviewed.student.asked] == [request.seed for request in alone.student.asked]


def test_a_call_that_the_student_cut_short_may_be_made_whole():
    acted = play([Reply("```bash\ncp in", "length"), "Done."], review=review(), verdicts=[RIGHT, PASS])
    assert acted.rollout.grades["score"] == 1.0 and acted.trajectory.turns[0].failure is None


def test_an_answer_that_was_cut_short_is_told_as_none_and_may_be_made_whole():
    played = Played([Reply("Done, for now I", "length")], review=review(), verdicts=[verdict("replace", answer="Done, for now I")])
    (turn,) = played.play().trajectory.turns
    assert (turn.verdict, turn.accepted, turn.failure) == ("replace", "Done, for now I", None)
    told = played.reviewer.asked[0].messages[-1].content
    assert "the message was cut" in told and "final answer" not in told


def test_only_an_oracle_is_told_the_right_answer():
    def asked(oracle):
        played = Played(["0"], SUM, review=review(oracle=oracle), verdicts=[PASS])
        played.play()
        return "".join(message.content for request in played.reviewer.asked for message in request.messages)

    assert question(SUM).answer in asked(True) and question(SUM).answer not in asked(False)


def test_a_reviewers_model_that_is_down_is_an_error_of_the_step_and_nonsense_is_not():
    with pytest.raises(StepError, match="the reviewer gave no reply"):
        play([bash("ls")], review=review(), verdicts=[LMError("connection", "refused")])
    acted = play([bash("cp in.txt out.txt"), "Done."], review=review(), verdicts=["Nice weather."] * 6)
    assert [turn.trouble for turn in acted.trajectory.turns] == ["malformed", "malformed"]
    assert acted.rollout.grades["score"] == 1.0


BANK = Harness(
    {
        "tools/total.py": '"""Adds the numbers in a file."""\nimport json, sys\n\nPARAMETERS = {"path": "the file"}\n'
        'print(sum(int(line) for line in open(json.load(sys.stdin)["path"])))\n',
        "middlewares/looks.py": "def before(call, history):\n"
        "    if call['tool'] is None and not any('(looked)' in m['content'] for m in history):\n"
        "        return 'Look at the file first.'\n\n\n"
        "def after(call, observation, history):\n    return '(looked)' if 'in.txt' in str(call) else None\n",
        "skills/adding/SKILL.md": "---\nname: adding\ndescription: how to add numbers\n---\nUse the tool total.\n",
        "memory.md": "Sums were guessed.\n",
    }
)


def test_a_banks_tools_are_calls_and_its_middlewares_refuse_and_add():
    total = question(SUM).answer
    played = Played(["0", '```total\n{"path": "in.txt"}\n```', bash("cat $BANK/skills/adding/SKILL.md"), total], SUM, BANK)
    acted = played.play()
    assert told(acted)[:2] == ["Look at the file first.", f"{total}\n(looked)"]
    assert "Use the tool total." in told(acted)[2] and told(acted)[3] is None
    assert [turn.tool for turn in acted.trajectory.turns] == [None, "total", "execute", None]
    assert [turn.failure and turn.failure.kind for turn in acted.trajectory.turns] == ["refused", None, None, None]
    used = [turn.components for turn in acted.trajectory.turns]
    assert used == [("middlewares/looks.py",), ("tools/total.py",), ("skills/adding/SKILL.md",), ()]
    system = played.student.asked[0].messages[0].content
    assert "Adds the numbers in a file." in system and "how to add numbers" in system
    assert acted.rollout.harness_id == BANK.id and acted.rollout.grades["score"] == 1.0


def test_a_middleware_that_breaks_is_noted_and_the_rollout_goes_on():
    broken = Harness({"middlewares/broken.py": "def before(call, history):\n    return history[99]\n"})
    acted = play([bash("cp in.txt out.txt"), "Done."], bank=broken)
    failure = acted.trajectory.turns[0].failure
    assert (failure.boundary, failure.kind) == ("harness", "error") and acted.rollout.grades["score"] == 1.0


def test_a_middleware_that_breaks_beside_another_trouble_is_not_noted_at_the_next_turn():
    broken = Harness({"middlewares/broken.py": "def after(call, observation, history):\n    return history[99]\n"})
    acted = play([bash("sleep 60"), "Done."], bank=broken, target={"command_s": 0.5})
    assert [turn.failure and turn.failure.kind for turn in acted.trajectory.turns] == ["timeout", None]


def test_a_banks_files_cannot_be_changed_from_the_workspace():
    memory = Harness({"memory.md": "Sums were guessed.\n"})
    acted = play([bash("echo x >> $BANK/memory.md; rm $BANK/memory.md"), bash("cat $BANK/memory.md"), "0"], SUM, memory)
    assert told(acted)[1] == "Sums were guessed."
