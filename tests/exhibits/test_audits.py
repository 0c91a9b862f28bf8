"""The audit of proposals and Table 18, from rows: sources and events of a few proposals."""

import json

import pytest

from tests.exhibits.study import Point, Trial, all_at, scored
from tests.exhibits.test_exhibit_sql import regenerated, value
from tests.exhibits.test_proposal_flow import CODE, RUN, SEED, SUM, TOOL_LOOP, edited

pytestmark = pytest.mark.truth
LOOPED = edited(TOOL_LOOP, ("def run(", CODE), (RUN, "tools.python(ADD_UP + code)"))
LOOSE = edited(TOOL_LOOP, ("def run(", SUM))
WRITTEN = "print(add_up('1 2'))"
PRELUDE = "def add_up(text):\n    return 3\n"


def turns(sent: str, printed: str = "3") -> tuple[tuple[str, str, str], ...]:
    """The solver writes code, `sent` is run and its output shown; then the solver answers."""
    told = json.dumps({"stdout": printed + "\n", "stderr": "", "ok": True})
    asked = json.dumps([{"role": "user", "content": f"It printed:\n{printed}"}])
    return (("lm", "[]", f"```python\n{WRITTEN}\n```"), ("python", sent, told), ("lm", asked, f"<answer>{printed}</answer>"))


def point(name: str, parent: str, *trials: Trial, family: str = "maze") -> Point:
    start = (all_at(family, "dev", 0.25), all_at(family, "held", 0.25))
    return Point(name, family, 0, *start, (trials,), (-1,), text=parent)


def applied(text: str, **more) -> Trial:
    return scored("maze", 0.5, 0.5, text=text, **more)


def table18() -> Point:
    """One proposal composes and its helper is called, one composes in vain, one defines it and no more, one fails."""
    return point(
        "attach_helper",
        TOOL_LOOP,
        applied(LOOPED, events=turns(PRELUDE + WRITTEN), answer="3"),
        applied(LOOPED, events=turns(PRELUDE + "print(3)"), answer="3"),
        applied(LOOSE, events=turns(WRITTEN), answer="4"),
        Trial("search_not_found"),
    )


def test_table18_counts_helpers_that_are_composed_and_those_that_answer():
    exhibit = regenerated("table18", [table18(), Point("tool_loop", "maze", 0, *[all_at("maze", "held", 0.25)] * 2)])
    shares = {c: value(exhibit, "attach_helper", c) for c in ("failed", "keeps_loop", "helper", "composed", "used")}
    assert shares == {"failed": 0.25, "keeps_loop": 0.75, "helper": 0.75, "composed": 0.5, "used": 0.25}
    counts = [value(exhibit, "attach_helper", c) for c in ("compositions", "uses", "proposals", "used_rollouts", "score")]
    assert counts == [2, 1, 4, 0.25, pytest.approx((3 * 0.5 + 0.25) / 4)]
    assert [value(exhibit, "tool_loop", c) for c in ("score", "composed", "proposals")] == [0.25, None, None]


def test_the_papers_proposals_stand_in_a_row_of_their_own():
    """Their proposer is not known to us, so they are no arm's."""
    from hbench.exhibits.exhibit import read

    block, _ = read("table18")
    assert list(block.paper) == ["proposals in the paper"]
    assert block.paper["proposals in the paper"]["composed"].value == 12 / 32


def test_the_audit_tells_what_proposals_are():
    loop = [("lm", "[]", f"```python\n{WRITTEN}\n```"), ("python", WRITTEN, json.dumps({"stdout": "3"}))]
    trials = (
        applied(TOOL_LOOP, events=tuple(loop), answer="3"),
        applied("def run(question, tools):\n    return str(len(question))\n", answer="9"),
        applied(SEED.replace("Put the final", "Give the final"), events=(("lm", "[]", "x"),), answer="x"),
        applied(SEED.replace(".strip()", ""), events=(("lm", "[]", "x"),), answer="x"),
        Trial("no_block"),
    )
    exhibit = regenerated("proposals_audit", [point("rl", SEED, *trials)])
    columns = ("failed", "interpreter_loop", "algorithm", "prompt_change", "composed", "used", "other", "looped", "alone")
    found = {c: value(exhibit, "rl", c) for c in columns}
    assert found == dict.fromkeys(columns, 0.2) | {"composed": 0, "used": 0}
    assert [value(exhibit, "rl", c) for c in ("loops", "algorithms", "prompts_changed", "proposals")] == [1, 1, 1, 5]


def test_a_loop_that_never_ran_code_is_one_by_its_source_alone():
    quiet = (("lm", "[]", "<answer>3</answer>"),)
    exhibit = regenerated("proposals_audit", [point("rl", SEED, applied(TOOL_LOOP, events=quiet, answer="3"))])
    assert [value(exhibit, "rl", c) for c in ("interpreter_loop", "looped", "alone")] == [1, 0, 0]


def test_counts_add_up_over_families_and_shares_are_means_of_them():
    study = [
        point("rl", SEED, applied(TOOL_LOOP), applied(TOOL_LOOP)),
        point("rl", SEED, scored("lcm", 0.5, 0.5, text=TOOL_LOOP), Trial("no_block"), family="lcm"),
    ]
    exhibit = regenerated("proposals_audit", study)
    assert [value(exhibit, "rl", c) for c in ("interpreter_loop", "loops", "proposals")] == [0.75, 3, 4]
