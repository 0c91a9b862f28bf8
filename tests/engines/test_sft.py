"""Supervised training, for real, on a tiny model; the embedded one learns in a slow test."""

import json
import math

import pytest

from hbench.core.failure import StepError
from hbench.core.model import ModelRef
from hbench.core.training import Task
from hbench.engines import local_model, sft, trainable, trainer_log
from hbench.engines.mask import tokenise
from hbench.engines.sft import order_of, read_rows, train_sft
from hbench.engines.shared_prompt import Collator
from hbench.engines.trainer_log import latest, update_of
from tests.engines.training import LORA, RECIPE, logits, task, tiny_ref, write_rows

torch = pytest.importorskip("torch")
pytest.importorskip("trl")


@pytest.fixture(scope="module")
def ref(tmp_path_factory):
    return tiny_ref(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return write_rows(tmp_path_factory.mktemp("rows") / "rows.jsonl")


class Killed(Exception):
    pass


def train(job: Task, rows, stop=None):
    """{(update, name): value} of what was noted; with `stop`, the run ends in the middle of that update."""
    noted = {}

    def note(update, name, value):
        if update == stop:
            raise Killed
        assert (update, name) not in noted, "an update is noted once"
        noted[update, name] = value

    try:
        train_sft(job, rows, note)
    except Killed:
        assert stop
    return noted


def losses(noted):
    return [value for (_, name), value in sorted(noted.items()) if name == "loss"]


@pytest.mark.parametrize("lora", [LORA, None], ids=["adapter", "whole"])
def test_the_loss_falls_and_the_checkpoint_serves(ref, rows, tmp_path, lora):
    noted = train(task(ref, tmp_path, lora=lora, epochs=8.0), rows)
    assert sum(losses(noted)[-4:]) < 0.8 * sum(losses(noted)[:4])
    trained = ref.trained(trainable.checkpoint_json(ref, tmp_path / "final"), tmp_path / "final")
    served = local_model.load(trained.identity, files=trained.files).model
    assert not torch.allclose(logits(served), logits(local_model.load(ref.identity).model), atol=0.1)


def test_every_update_is_noted_under_four_names(ref, rows, tmp_path):
    noted = train(task(ref, tmp_path), rows)
    updates, names = {update for update, _ in noted}, {name for _, name in noted}
    assert updates == set(range(1, 9)) and names == {"loss", "learning_rate", "grad_norm", "seconds"}  # 10 rows x 3 / 4
    assert len(noted) == 32 and all(math.isfinite(value) for value in noted.values())


@pytest.mark.parametrize(
    ("schedule", "shares"),
    [
        ("constant", [0.1, 0.55, 1, 1, 1, 1]),
        ("linear", [0.1, 0.55, 1, 0.775, 0.55, 0.325]),
        ("cosine", [0.1, 0.55, 1, 0.868, 0.55, 0.232]),
    ],
)
@pytest.mark.slow
def test_the_learning_rate_rises_stays_or_falls(ref, rows, tmp_path, schedule, shares):
    noted = train(task(ref, tmp_path, schedule=schedule, updates=6), rows)
    rates = [noted[update, "learning_rate"] / 1e-2 for update in range(1, 7)]
    assert rates == pytest.approx(shares, abs=1e-3)


@pytest.mark.parametrize("lora", [{**LORA, "dropout": 0.2, "from_layer": 1}, None], ids=["adapter", "whole"])
@pytest.mark.slow
def test_a_killed_run_goes_on_as_if_it_had_not_been(ref, rows, tmp_path, lora):
    straight = train(task(ref, tmp_path / "a", lora=lora), rows)
    before = train(task(ref, tmp_path / "b", lora=lora), rows, stop=6)
    assert update_of(latest(tmp_path / "b")) == 4 and not (tmp_path / "b" / "final").exists()
    after = train(task(ref, tmp_path / "b", lora=lora), rows)
    assert {update for update, _ in after} == {5, 6, 7, 8}
    assert losses(before)[:4] + losses(after) == losses(straight)
    one, two = (trainable.checkpoint_json(ref, tmp_path / name / "final") for name in "ab")
    assert one == two


@pytest.mark.slow
def test_a_checkpoint_that_was_cut_off_is_not_gone_on_from(ref, rows, tmp_path):
    train(task(ref, tmp_path), rows, stop=6)
    (tmp_path / "checkpoints" / "checkpoint-4" / trainer_log.WHOLE).unlink()
    assert update_of(latest(tmp_path)) == 2
    assert {update for update, _ in train(task(ref, tmp_path), rows)} == set(range(3, 9))


def test_a_run_killed_after_its_last_update_only_saves(ref, rows, tmp_path):
    train(task(ref, tmp_path), rows)
    first = trainable.checkpoint_json(ref, tmp_path / "final")
    (tmp_path / "final").rename(tmp_path / "gone")
    assert train(task(ref, tmp_path), rows) == {}
    assert trainable.checkpoint_json(ref, tmp_path / "final") == first


@pytest.mark.slow
def test_memory_is_not_what_is_learned(ref, rows, tmp_path):
    cut, whole = (train(task(ref, tmp_path / str(size), {"micro_batch": size}), rows) for size in (1, 4))
    assert losses(cut) == pytest.approx(losses(whole), abs=1e-4)


@pytest.mark.parametrize("lora", [LORA, None], ids=["adapter", "whole"])
def test_a_prompt_read_once_for_its_group_trains_the_same(ref, rows, tmp_path, lora, monkeypatch):
    sizes = []

    class Packing(Collator):
        def __call__(self, rows):
            batch = super().__call__(rows)
            sizes.append((batch["input_ids"].numel(), sum(len(row["input_ids"]) for row in rows)))
            return batch

    monkeypatch.setattr(sft, "Collator", Packing)
    apart, shared = (
        train(task(ref, tmp_path / str(share), {"micro_batch": 4, "share_prompts": share}, lora=lora), rows)
        for share in (False, True)
    )
    assert losses(shared) == pytest.approx(losses(apart), abs=1e-3)
    assert sizes and all(packed < whole - 9 for packed, whole in sizes)
    norms = [[noted[update, "grad_norm"] for update in range(1, 9)] for noted in (apart, shared)]
    assert norms[0] == pytest.approx(norms[1], rel=1e-2)


def test_an_updates_loss_is_the_mean_over_its_trained_tokens(ref, rows, tmp_path):
    noted = train(task(ref, tmp_path, updates=1, batch=10, warmup=0), rows)
    model, total, count = local_model.load(ref.identity).model, 0.0, 0
    for row in read_rows(rows, 64):
        with torch.no_grad():
            said = model(torch.tensor([row["input_ids"]])).logits[0, :-1].log_softmax(-1)
        wanted = [(place, label) for place, label in enumerate(row["labels"][1:]) if label >= 0]
        total, count = total - sum(said[place, label].item() for place, label in wanted), count + len(wanted)
    assert losses(noted) == pytest.approx([total / count], abs=1e-4)


def weigh(rows, file, weights, grouped=lambda at: at if at % 3 else 0):
    """Writes `rows` with what `weights(row)` gives each trained token; most by themselves, as sessions are, some together."""
    told = [json.loads(line) for line in rows.read_text().splitlines()]
    for at, row in enumerate(told):
        row["weights"] = [weights(row) if label >= 0 else 0.0 for label in row["labels"]]
        row["group"] = grouped(at)
    file.write_text("".join(json.dumps(row) + "\n" for row in told))
    return file


def by_session(row):
    return 1 / sum(label >= 0 for label in row["labels"])


@pytest.mark.parametrize("machine", [{}, {"micro_batch": 5}, {"share_prompts": False}], ids=["packed", "cut", "padded"])
@pytest.mark.slow
def test_rows_whose_weights_sum_to_one_count_alike_however_long(ref, rows, tmp_path, machine):
    given = weigh(rows, tmp_path / "rows.jsonl", by_session)
    noted = train(task(ref, tmp_path, machine, updates=1, batch=10, warmup=0), given)
    model, means = local_model.load(ref.identity).model, []
    for row in read_rows(rows, 64):
        with torch.no_grad():
            said = model(torch.tensor([row["input_ids"]])).logits[0, :-1].log_softmax(-1)
        means.append([-said[place, label].item() for place, label in enumerate(row["labels"][1:]) if label >= 0])
    assert losses(noted) == pytest.approx([sum(sum(each) / len(each) for each in means) / 10], abs=1e-4)


def test_equal_weights_train_as_none_where_rows_are_of_one_length(ref, tmp_path):
    rows = write_rows(tmp_path / "plain.jsonl", groups=1, copies=10)
    given = weigh(rows, tmp_path / "rows.jsonl", lambda row: 7.0, grouped=lambda at: 0)
    plain, weighted = (train(task(ref, tmp_path / name), file) for name, file in (("a", rows), ("b", given)))
    assert [losses(plain)[0]] == pytest.approx([losses(weighted)[0]], abs=1e-4)


@pytest.mark.parametrize("share", [True, False], ids=["packed", "padded"])
def test_a_token_without_weight_teaches_nothing(ref, tmp_path, share):
    """Its label may be anything."""
    rows = write_rows(tmp_path / "rows.jsonl").read_text().splitlines()
    found = []
    for said in (20, 21):
        told = [json.loads(line) for line in rows]
        for row in told:
            row["weights"] = [1.0 if at % 2 and label >= 0 else 0.0 for at, label in enumerate(row["labels"])]
            row["labels"] = [label if weight or label < 0 else said for label, weight in zip(row["labels"], row["weights"])]
        file = tmp_path / f"{said}.jsonl"
        file.write_text("".join(json.dumps(row) + "\n" for row in told))
        found.append(train(task(ref, tmp_path / str(said), {"share_prompts": share}), file))
    assert losses(found[0]) == losses(found[1])


@pytest.mark.slow
def test_a_killed_run_with_weights_goes_on_as_if_it_had_not_been(ref, rows, tmp_path):
    given = weigh(rows, tmp_path / "rows.jsonl", by_session)
    straight = train(task(ref, tmp_path / "a"), given)
    train(task(ref, tmp_path / "b"), given, stop=6)
    after = train(task(ref, tmp_path / "b"), given)
    assert losses(after) == losses(straight)[4:]
    one, two = (trainable.checkpoint_json(ref, tmp_path / name / "final") for name in "ab")
    assert one == two


def test_every_row_comes_once_an_epoch_beside_those_of_its_group():
    groups = ["a", "b", "a", "c", "b", "a"]
    order = order_of(groups, 12, seed=1)
    first, second = order[:6], order[6:]
    assert sorted(first) == sorted(second) == list(range(6)) and first != second
    runs = [groups[place] for at, place in enumerate(first) if not at or groups[place] != groups[first[at - 1]]]
    assert sorted(runs) == ["a", "b", "c"]
    assert order_of(groups, 12, seed=1) == order != order_of(groups, 12, seed=2)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"input_ids": [1] * 9, "labels": [1] * 9}, "9 tokens, more than max_length 8"),
        ({"input_ids": [1, 2], "labels": [-100, -100]}, "none of which may be trained"),
        ({"input_ids": [1, 2], "labels": [1]}, "2 tokens and 1 labels"),
        ({"input_ids": [1, 2], "labels": [1, 2], "weights": [1.0]}, "2 tokens and 1 weights"),
        ({"input_ids": [1, 2], "labels": [1, 2], "weights": [1.0, -1.0]}, "not negative"),
        ({"input_ids": [1, 2], "labels": [-100, 2], "weights": [1.0, 0.0]}, "no token that is trained has a weight"),
    ],
)
def test_a_row_that_cannot_be_trained_as_it_is_stops_the_step(tmp_path, row, message):
    (tmp_path / "rows.jsonl").write_text(json.dumps({**row, "group": 0}) + "\n")
    with pytest.raises(StepError, match=message):
        read_rows(tmp_path / "rows.jsonl", 8)


def test_weights_in_some_rows_only_stop_the_step(tmp_path):
    row = {"input_ids": [1, 2], "labels": [1, 2], "group": 0}
    (tmp_path / "rows.jsonl").write_text(json.dumps({**row, "weights": [0.5, 0.5]}) + "\n" + json.dumps(row) + "\n")
    with pytest.raises(StepError, match="row 1: either every row has weights"):
        read_rows(tmp_path / "rows.jsonl", 8)


def test_no_rows_stop_the_step(tmp_path):
    (tmp_path / "rows.jsonl").write_text("")
    with pytest.raises(StepError, match="no row"):
        read_rows(tmp_path / "rows.jsonl", 8)


def test_a_loss_that_is_no_number_stops_the_step(ref, rows, tmp_path):
    with pytest.raises(StepError, match="the loss is nan"):
        train(task(ref, tmp_path, lora=None, learning_rate=1e30, warmup=0, clip=0.0), rows)


DEMONSTRATIONS = [("Name a colour.", "Blue <3"), ("Say hello.", "Ahoy <3"), ("Count to two.", "1 2 <3")]


@pytest.mark.slow
def test_the_embedded_model_learns_an_adapter(tmp_path):
    """Three updates of LoRA on real weights: the loss falls, and the served model says something else."""
    ref = ModelRef("proposer", "small", {"weights": "embedded/smollm2-135m-instruct"})
    said = [([{"role": "user", "content": asked}], answer) for asked, answer in DEMONSTRATIONS]
    rows = [{"input_ids": ids, "labels": labels, "group": at} for at, (ids, labels) in enumerate(tokenise(ref, said))]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    recipe = {**RECIPE, "learning_rate": 1e-3, "updates": 3, "batch": 3, "warmup": 0}
    noted = train(Task(ref, recipe, 1, tmp_path, machine={"threads": 1}), tmp_path / "rows.jsonl")
    assert losses(noted)[2] < losses(noted)[0] - 0.3
    trained = ref.trained(trainable.checkpoint_json(ref, tmp_path / "final"), tmp_path / "final")
    base, served = local_model.load(ref.identity).model, local_model.load(trained.identity, files=trained.files).model
    assert (logits(served) - logits(base)).abs().max() > 0.5
