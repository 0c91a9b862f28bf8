"""What a harness may do, and how its ordinary endings are told."""

import asyncio

import pytest

from hbench.core.failure import LimitReached, StepError, ToolError
from hbench.core.limits import Limits
from hbench.engines.jail import HarnessJob, Jails
from tests.engines.jail.lab import CONFINED, QUICK, attack, body, run, said

BOTH = pytest.mark.parametrize("sandbox", [*CONFINED, "none"])


@BOTH
def test_the_answer_is_what_run_returns(sandbox):
    outcome = attack(sandbox, body("return question.upper()"), question="why?")
    assert (outcome.answer, outcome.completed, outcome.failure) == ("WHY?", True, None)


@BOTH
def test_a_tool_is_asked_and_its_result_comes_back(sandbox):
    assert attack(sandbox, body("return tools.lm('hello') + '!'")).answer == "hello!"


def test_lm_sends_plain_messages_whatever_form_they_were_given_in():
    seen = []

    async def lm(**arguments):
        seen.append(arguments)
        return "ok"

    code = """
tools.lm("text", system="be brief", max_tokens=5, temperature=0, stop="end")
return tools.lm([{"role": "user", "content": "a", "name": "left out"}, {"role": "assistant", "content": "b"}])"""
    attack("auto", body(code), tools={"lm": lm})
    assert seen == [
        {
            "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "text"}],
            "max_tokens": 5,
            "temperature": 0,
            "stop": ["end"],
        },
        {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]},
    ]


def test_only_tools_on_offer_are_there():
    code = "return ' '.join(n for n in ('lm', 'python', 'search') if hasattr(tools, n))"
    assert attack("auto", body(code)).answer == "lm"


def test_a_refused_call_may_be_caught_inside():
    async def lm(messages):
        raise ToolError("no such model")

    code = "try:\n    tools.lm('x')\nexcept Exception as refusal:\n    return f'{refusal}'"
    assert attack("auto", body(code), tools={"lm": lm}).answer == "no such model"
    assert said(attack("auto", body("return tools.lm('x')"), tools={"lm": lm})) == ("harness", "error")


def test_unknown_arguments_are_refused_not_a_crash_of_the_driver():
    async def lm(messages):
        return "x"

    outcome = attack("auto", body("return tools.lm('x', max_tokens=3)"), tools={"lm": lm})
    assert said(outcome) == ("harness", "error") and "max_tokens" in outcome.failure.message


def test_a_broken_service_is_an_error_of_the_step_whatever_the_harness_catches():
    async def lm(messages):
        raise StepError("the LM service is down")

    with pytest.raises(StepError, match="is down"):
        run("auto", body("try:\n    tools.lm('x')\nexcept BaseException:\n    return 'caught'"), tools={"lm": lm})


def test_a_limit_reached_in_a_tool_ends_the_harness_whatever_it_catches():
    async def lm(messages):
        raise LimitReached("tokens", "65536 completion tokens are used up")

    code = "try:\n    tools.lm('x')\nexcept BaseException:\n    pass\nreturn 'swallowed'"
    assert said(attack("auto", body(code), tools={"lm": lm})) == ("limits", "tokens")


def test_a_slow_model_is_waited_for():
    async def lm(messages):
        await asyncio.sleep(1.0)
        return "late"

    limits = Limits(wall_s=0.5, cpu_s=5)
    assert attack("auto", body("return tools.lm('x')"), tools={"lm": lm}, limits=limits).answer == "late"
    assert said(attack("auto", body("import time; time.sleep(1); return 'x'"), limits=limits)) == ("limits", "timeout")


def test_many_questions_are_in_flight_at_once():
    async def lm(messages):
        await asyncio.sleep(0.3)
        return messages[0]["content"]

    async def go():
        jails = Jails("auto", zygotes=2)
        jobs = [HarnessJob(body("return tools.lm(question)"), f"q{i}", {"lm": lm}) for i in range(100)]
        began = asyncio.get_running_loop().time()
        outcomes = await asyncio.gather(*(jails.run(job) for job in jobs))
        took = asyncio.get_running_loop().time() - began
        await jails.close()
        return outcomes, took

    outcomes, took = asyncio.run(go())
    assert [o.answer for o in outcomes] == [f"q{i}" for i in range(100)] and took < 10  # one by one: 30 s


@pytest.mark.parametrize("value", ["None", "3", "b'x'", "['x']", "type('T', (str,), {})('x')"])
def test_what_is_not_exactly_a_str_is_bad_type(value):
    assert said(attack("auto", body(f"return {value}"))) == ("harness", "bad_type")


def test_an_exception_is_told_with_its_line():
    outcome = attack("auto", body("x = 1\nreturn 1 / 0"))
    assert said(outcome) == ("harness", "error")
    assert outcome.failure.message == "ZeroDivisionError: division by zero (harness.py, line 3)"


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def run(question, tools)\n    return 'x'\n", "syntax_error"),
        ("def run(q, t):\n    return '\0'\n", "syntax_error"),
        ("x = " + "(" * 5000 + ")" * 5000 + "\n", "syntax_error"),
        ("answer = 1\n", "missing_entry_point"),
        ("run = 3\n", "missing_entry_point"),
        ("import no_such_module\n", "error"),
        ("import sys\nsys.exit('bye')\n", "exited"),
        (body("raise SystemExit(0)"), "exited"),
        (body("import os; os._exit(0)"), "exited"),
        (body("raise KeyboardInterrupt"), "error"),
        (body("return run(question, tools)"), "error"),
        (body("import ctypes; ctypes.string_at(1)"), "killed"),
        (body("import os; os.abort()"), "killed"),
    ],
)
def test_how_a_harness_ends_without_an_answer(source, kind):
    assert said(attack("auto", source)) == ("harness", kind)


def test_output_is_captured_and_cut():
    code = "import sys\nprint('a' * 90)\nprint('b' * 90, file=sys.stderr)\nreturn 'x'"
    outcome = attack("auto", body(code), limits=Limits(output_chars=100))
    assert outcome.answer == "x" and outcome.output == "a" * 90 + "\n" + "b" * 9


def test_output_up_to_a_limit_is_kept():
    outcome = attack("auto", body("while True:\n    print('still here')"), limits=Limits(wall_s=0.5, output_chars=50))
    assert said(outcome) == ("limits", "timeout") and outcome.output.startswith("still here\nstill here\n")


def test_answers_hold_any_text():
    text = "\\0 \\ud800 \\U0001f600 \\x1b"
    assert attack("auto", body(f"return '{text}'")).answer == "\0 \ud800 \U0001f600 \x1b"


def test_an_answer_longer_than_the_limit_is_told():
    assert said(attack("auto", body("return 'x' * 101"), limits=Limits(output_chars=100))) == ("limits", "output")


def test_equal_seeds_draw_equal_numbers_and_hashes():
    code = body("import random; return repr((random.random(), hash('x')))")
    first, second = run("auto", code, code)
    assert first.answer == second.answer
    assert run("auto", code)[0].answer == first.answer  # another zygote


def test_cpu_time_is_limited_and_counted():
    outcome = attack("auto", body("while True: pass"), limits=Limits(cpu_s=1, wall_s=30))
    assert said(outcome) == ("limits", "cpu") and 0.5 < outcome.cpu_seconds < 1.6  # the kernel guesses, and less well when busy


def test_a_cancelled_job_leaves_no_process():
    async def go():
        jails = Jails("auto", zygotes=1)
        job = asyncio.ensure_future(jails.run(HarnessJob(body("while True: pass"), "?", limits=QUICK)))
        await asyncio.sleep(0.5)
        job.cancel()
        await asyncio.gather(job, return_exceptions=True)
        zygote = await jails._harness.zygote()
        for _ in range(100):
            if not zygote.children:
                break
            await asyncio.sleep(0.02)
        left = len(zygote.children)
        await jails.close()
        return left

    assert asyncio.run(go()) == 0
