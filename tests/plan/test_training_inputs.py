"""What the steps of training may read."""

import pytest

from hbench.plan import PlanError, Step
from hbench.plan.check import check
from tests.plan.test_plan import plan_of

SPLIT = Step("split", {"role": "scoring"})
HARNESS = Step("harness", {})
RUN = Step("evaluate", {}, {"harness": HARNESS["harness"], "questions": SPLIT["questions"]})
REPORT = Step("report", {}, {"evaluated": RUN, "questions": SPLIT["questions"]})
CONTEXTS = Step("contexts", {}, {"report_0": REPORT, "report_12": REPORT})
SHOWN = Step("demonstrate", {}, {"contexts": CONTEXTS, "questions_gsm8": SPLIT["questions"]})
KEEP = Step("keep", {}, {"demonstrations": SHOWN, "contexts": CONTEXTS})
ROWS = Step("sft_rows", {}, {"keep": KEEP, "contexts": CONTEXTS})
SFT = Step("train_sft", {}, {"rows": ROWS})
GRPO = Step("train_grpo", {}, {"contexts": CONTEXTS, "questions_gsm8": SPLIT["questions"], "checkpoint": SFT["checkpoint"]})
CARRY = Step("carry", {}, {"trained": GRPO, "contexts": CONTEXTS})
FIRST = (SPLIT, HARNESS, RUN, REPORT, CONTEXTS, SHOWN, KEEP, ROWS, SFT, GRPO, CARRY)


@pytest.mark.parametrize(
    "last",
    [
        Step("evaluate", {}, {"harness": KEEP["best_gsm8"], "questions": SPLIT["questions"]}),
        Step("evaluate", {}, {"harness": CARRY["harness_0"], "questions": SPLIT["questions"]}),
        Step("report", {}, {"evaluated": RUN, "questions": SPLIT["questions"], "history_0": CARRY["history_0"]}),
        Step("contexts", {}, {"report_0": REPORT, "from_0": CARRY["context_0"]}),
        Step("propose", {}, {"report": REPORT, "checkpoint": GRPO["checkpoint"]}),
    ],
)
def test_a_training_plan_is_let_through(last):
    check(plan_of(*FIRST, last))


@pytest.mark.parametrize(
    ("last", "told"),
    [
        (Step("propose", {}, {"report": REPORT, "checkpoint": KEEP["kept"]}), "propose.checkpoint reads train_grpo or train_sft"),
        (Step("demonstrate", {}, {"contexts": CONTEXTS, "questions_gsm8": REPORT}), "questions_gsm8 reads split, not report"),
        (Step("train_grpo", {}, {"contexts": KEEP}), "train_grpo.contexts reads contexts, not keep"),
        (Step("sft_rows", {}, {"keep": SHOWN}), "sft_rows.keep reads keep, not demonstrate"),
    ],
)
def test_an_input_of_another_kind_is_refused(last, told):
    with pytest.raises(PlanError, match=told):
        check(plan_of(*FIRST, last))
