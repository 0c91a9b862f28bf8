"""The execution report that the proposer reads: scores, failing questions, traces, and what earlier edits did."""

from collections.abc import Mapping

from hbench.core.digest import Json, text_digest
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services
from hbench.steps._report_text import report_text

VERSION = 1


def report(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """inputs: `evaluated` (the harness on feedback questions), `questions`, and `history_0` … (the rounds before).

    params: prompt, family; failures, successes (questions shown), history (rounds shown), show_gold, show_answers,
    show_retrieved, show_missed, show_traces, trace_chars, scores_only. Value: text, and the harness it is about; of no
    harness (a parent that does not exist) there is none, and both are null.
    """
    harness = inputs["evaluated"].value["harness"]
    if harness is None:
        return Output({"text": None, "harness": None})
    past = {int(name.split("_")[1]): made.value for name, made in inputs.items() if name.startswith("history_")}
    text = report_text(params, inputs["evaluated"], inputs["questions"].value, past)
    found = text_digest(text)
    row = {"harness_id": harness["id"], "text_digest": found}
    rows = {"reports": [row], "texts": [{"digest": found, "text": text}]}
    return Output({"text": text, "harness": harness}, rows)
