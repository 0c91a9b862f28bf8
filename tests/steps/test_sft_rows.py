"""Training rows: the prompts that a proposer reads, and what is dropped, which is said."""

import json

import pytest

from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.prompt import load_prompt
from hbench.steps.harness import harness_value
from tests.steps.stage import EDIT, PROMPT, Stage, context, contexts_value, value
from tests.world import HARNESS, SOLVES

PARENT = harness_value(Harness.of(HARNESS))
PROMPTS = [PROMPT, load_prompt("proposer/search_replace_small").to_json()]
MODEL = {"role": "proposer", "identity": {"weights": "tiny"}, "sampling": {"temperature": 1.0, "max_tokens": 64}}


@pytest.fixture
def stage(tmp_path):
    made = Stage(tmp_path)
    yield made
    made.close()


def rows(stage, kept, tokenise, max_length=10_000, seed=0, contexts=2):
    params = {"model": MODEL, "prompts": PROMPTS, "edit": EDIT, "max_length": max_length, "seed": seed}
    given = contexts_value(*(context(PARENT, i, report=f"Score 0.{i}.") for i in range(contexts)))
    made = stage.run("sft_rows", params, {"keep": value({"kept": kept}), "contexts": given}, tokenise=tokenise)
    return made, [json.loads(line) for line in (made.folder / "files" / "rows.jsonl").read_text().splitlines()]


def kept(context=0, prompt=0, response=SOLVES):
    return {"candidate": 0, "context": context, "prompt": prompt, "response": response, "score": 1.0, "parent_score": 0.0}


def characters(model, talks):
    """A token a character: the prompt carries no loss."""
    found = []
    for messages, completion in talks:
        asked = [ord(c) % 100 for m in messages for c in m["content"]]
        said = [ord(c) % 100 for c in completion]
        found.append((asked + said, [-100] * len(asked) + said))
    return found


def lengths(*pairs):
    """Of so many tokens of prompt and completion, whatever is said."""
    return lambda model, talks: [([1] * (p + c), [-100] * p + [1] * c) for p, c in pairs]


def test_a_row_is_the_prompt_that_was_asked_and_the_response(stage):
    seen = []

    def tokenise(model, talks):
        seen.extend(talks)
        return characters(model, talks)

    made, (row,) = rows(stage, [kept(context=1)], tokenise)
    ((messages, response),) = seen
    assert response == SOLVES and "Score 0.1." in messages[-1]["content"] and "def run" in messages[-1]["content"]
    trained = [label for label in row["labels"] if label != -100]
    assert trained == [ord(c) % 100 for c in SOLVES] and made.value["trained_tokens"] == len(SOLVES)
    assert made.value["tokens"] == made.value["longest"] == len(row["input_ids"])


def test_rows_of_one_prompt_stand_together_and_share_a_group(stage):
    given = [kept(c, p, f"edit {i}") for i in range(3) for c in (0, 1) for p in (0, 1)]
    _, found = rows(stage, given, characters)
    groups = [row["group"] for row in found]
    assert sorted(set(groups)) == [0, 1, 2, 3] and [groups[i] for i in range(0, 12, 3)] == list(dict.fromkeys(groups))
    for group in set(groups):
        prompts = {tuple(row["input_ids"][: row["labels"].count(-100)]) for row in found if row["group"] == group}
        assert len(prompts) == 1


def test_the_order_of_groups_is_drawn_by_the_seed(stage):
    given = [kept(c, p) for c in range(8) for p in (0, 1)]
    orders = [[r["group"] for r in rows(stage, given, characters, seed=s, contexts=8)[1]] for s in (0, 1)]
    assert sorted(orders[0]) == sorted(orders[1]) and orders[0] != orders[1]


def test_a_prompt_that_leaves_no_trained_token_is_dropped_and_counted(stage):
    """Case 110: max_length 8, a prompt of 9 tokens and a completion of 3."""
    made, found = rows(stage, [kept(), kept(1)], lengths((9, 3), (5, 3)), max_length=8)
    assert made.value["told"] == "1 of 2 dropped: no trained tokens within 8"
    assert made.value["dropped"] == {"no trained tokens within 8": 1} and len(found) == made.value["rows"] == 1


def test_a_completion_that_would_be_cut_is_dropped_and_counted(stage):
    """Case 110, kin: a prompt of 6 tokens and a completion of 4. Half a completion would teach to stop early."""
    made, _ = rows(stage, [kept(), kept(1)], lengths((6, 4), (5, 3)), max_length=8)
    assert made.value["told"] == "1 of 2 dropped: longer than 8 tokens"


def test_a_row_without_labels_is_dropped_at_any_length(stage):
    made, _ = rows(stage, [kept(), kept(1)], lengths((3, 0), (3, 1)))
    assert made.value["told"] == "1 of 2 dropped: no trained tokens"


def test_a_run_without_rows_stops_and_says_why(stage):
    with pytest.raises(StepError, match=r"2 of 2 dropped: longer than 8 tokens \(1\), no trained tokens within 8 \(1\)"):
        rows(stage, [kept(), kept(1)], lengths((9, 3), (6, 4)), max_length=8)


def test_nothing_dropped_says_nothing(stage):
    made, _ = rows(stage, [kept()], characters)
    assert made.value["told"] == "" and made.value["dropped"] == {} and made.value["file"] == "rows.jsonl"
