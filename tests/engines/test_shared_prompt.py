"""Packed rows get the log-probabilities and gradients that they get apart."""

import pytest

from tests.engines.tiny_model import tiny

torch = pytest.importorskip("torch")
pytest.importorskip("trl")
peft = pytest.importorskip("peft")

from hbench.engines.shared_attention import _rows_fused, _rows_plain  # noqa: E402
from hbench.engines.shared_prompt import IGNORED, Collator, Group, pack, share_prompts  # noqa: E402

PROMPT = [4, 5, 6, 7, 8, 9, 10]
SAID = [[11, 12, 13], [14], [15, 16, 17, 18, 19], [11, 0]]


def adapted(kind="llama"):
    """A tiny model with a LoRA adapter that already changes something."""
    torch.manual_seed(1)
    config = peft.LoraConfig(task_type="CAUSAL_LM", r=4, target_modules="all-linear", init_lora_weights=False)
    return peft.get_peft_model(tiny(kind), config).train()


def sharing(model, temperature=1.0):
    """`model` as a trainer leaves it, then made to take packed rows."""
    from trl.trainer.utils import add_fused_lm_head

    inner = model.get_base_model() if hasattr(model, "peft_config") else model
    add_fused_lm_head(inner, temperature, outputs=("log_probs", "entropy", "is_top1"))
    assert share_prompts(model, temperature)
    return model


def apart(model, rows, temperature=1.0):
    """Log-probabilities of the labels of each row, by one plain pass a row."""
    found = []
    for row in rows:
        logits = model(input_ids=torch.tensor([row["input_ids"]]), use_cache=False).logits[0, :-1] / temperature
        labels = torch.tensor(row["labels"][1:])
        scores = logits.log_softmax(-1).gather(1, labels.clamp(min=0)[:, None])[:, 0]
        found.append(scores[labels != IGNORED])
    return torch.cat(found)


def rows_of(prompt=PROMPT, said=SAID, group=0):
    return [{"input_ids": prompt + each, "labels": [IGNORED] * len(prompt) + each, "group": group} for each in said]


def gradients(model, loss):
    model.zero_grad()
    loss.backward()
    return {name: weight.grad.clone() for name, weight in model.named_parameters() if weight.grad is not None}


def packed(model, batch):
    batch = {name: value for name, value in batch.items() if name != "labels"}
    found = model(**batch, fused_lm_head=True)
    return found, found.log_probs[batch["shift_labels"] != IGNORED]


def close(found, wanted):
    """Within 2e-5 of the largest entry of each weight's gradient: what float32 leaves of sums in another order."""
    errors = {name: (found[name] - each).abs().max() / each.abs().max() for name, each in wanted.items()}
    return found.keys() == wanted.keys() and max(errors.values()) < 2e-5


@pytest.mark.parametrize("kind", ["llama", "qwen3"])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_packed_rows_get_the_log_probabilities_and_gradients_they_get_apart(kind, temperature):
    plain, model = adapted(kind), sharing(adapted(kind), temperature)
    rows = rows_of() + rows_of([20, 21], [[22, 23], [24, 0], [25]], group=1)
    wanted = apart(plain, rows, temperature)
    _, found = packed(model, Collator()(rows))
    assert torch.allclose(found, wanted, atol=1e-5)
    weights = torch.linspace(-1, 1, len(wanted))  # each token pulls its own way
    assert close(gradients(model, (found * weights).sum()), gradients(plain, (wanted * weights).sum()))


def test_a_whole_model_learns_the_same_from_packed_rows():
    plain, model = tiny("llama").train(), sharing(tiny("llama").train())
    wanted, (_, found) = apart(plain, rows_of()), packed(model, Collator()(rows_of()))
    assert torch.allclose(found, wanted, atol=1e-5)
    assert close(gradients(model, found.sum()), gradients(plain, wanted.sum()))


def test_entropy_and_the_likeliest_token_are_told_as_trl_tells_them():
    from trl.trainer.utils import add_fused_lm_head

    plain, rows = adapted(), rows_of()
    add_fused_lm_head(plain.get_base_model(), outputs=("log_probs", "entropy", "is_top1"))
    apart_ = [
        plain(input_ids=torch.tensor([r["input_ids"]]), labels=torch.tensor([r["labels"]]), fused_lm_head=True)
        for r in rows
    ]
    batch = Collator()(rows)
    found, _ = packed(sharing(adapted()), batch)
    seen = batch["shift_labels"] != IGNORED
    for name in ("entropy", "is_top1"):
        wanted = torch.cat([getattr(each, name)[0, len(PROMPT) - 1 :] for each in apart_])
        assert torch.allclose(getattr(found, name)[seen].float(), wanted.float(), atol=1e-5)
    assert found.label_mask.sum() == seen.sum()


def test_what_trains_is_never_shared():
    """Rows that go on alike after their prompt: each has its own copy of what it learns from."""
    rows = rows_of(said=[[11, 12, 13], [11, 12, 14], [11, 12, 13]])
    batch = Collator()(rows)
    assert (batch["shift_labels"] != IGNORED).sum() == 9 and batch["packed"].groups[0].beginning == PROMPT[:-1]


def test_hidden_spans_inside_a_row_stay_hidden():
    row = {"input_ids": [*PROMPT, 11, 12, 13, 14], "labels": [IGNORED] * 7 + [11, IGNORED, IGNORED, 14], "group": 0}
    wanted = apart(adapted(), [row, *rows_of()])
    _, found = packed(sharing(adapted()), Collator()([row, *rows_of()]))
    assert torch.allclose(found, wanted, atol=1e-5)


def test_a_prompt_of_one_token_and_rows_without_a_common_beginning_are_packed_too():
    rows = rows_of([4], SAID) + [*rows_of([5, 6], [[7, 8]], group=1), *rows_of([9, 10, 11], [[7, 0]], group=1)]
    batch = Collator()(rows)
    assert [group.beginning for group in batch["packed"].groups] == [[], []]
    _, found = packed(sharing(adapted()), batch)
    assert torch.allclose(found, apart(adapted(), rows), atol=1e-5)


def test_a_shared_prompt_is_read_once():
    batch = pack([Group([1, 2, 3], [([4, 5], [5, 6]), ([4], [7])])])
    assert batch["input_ids"].tolist() == [[1, 2, 3, 4, 5, 4]]
    assert batch["position_ids"].tolist() == [[0, 1, 2, 3, 4, 3]]
    assert batch["shift_labels"].tolist() == [[IGNORED] * 3 + [5, 6, 7]]


@pytest.mark.parametrize("long", [1024, 2], ids=["plain", "fused"])
def test_rows_with_weights_are_packed_with_them(monkeypatch, long):
    """A row by itself, a group, and a row trained in two places."""
    import hbench.engines.shared_attention as module

    monkeypatch.setattr(module, "LONG", long)
    two = {"input_ids": [*PROMPT, 11, 12, 4, 5, 13, 0], "labels": [IGNORED] * 7 + [11, 12, IGNORED, IGNORED, 13, 0]}
    rows = [*rows_of(said=SAID[:2], group="g"), {**two, "group": "w"}, *rows_of(said=SAID[2:3], group="x")]
    rows = [{**row, "weights": [at / 7 * (label >= 0) for at, label in enumerate(row["labels"])]} for row in rows]
    plain, model, batch = adapted(), sharing(adapted()), Collator()(rows)
    weights = batch.pop("weights")
    wanted, (found, scores) = apart(plain, rows), packed(model, batch)
    assert torch.allclose(scores, wanted, atol=1e-5)
    told = torch.tensor([weight for row in rows for weight, label in zip(row["weights"], row["labels"]) if label != IGNORED])
    assert torch.equal(weights[batch["shift_labels"] != IGNORED], told) and weights.sum() == pytest.approx(told.sum().item())
    assert close(gradients(model, (found.log_probs * weights).sum()), gradients(plain, (wanted * told).sum()))


def test_the_ways_to_attend_for_a_cpu_and_for_a_gpu_agree():
    torch.manual_seed(0)
    query, key, value = (torch.randn(heads, 3, 5, 8) for heads in (4, 2, 2))
    old, old_values = torch.randn(2, 7, 8), torch.randn(2, 7, 8)
    plain = _rows_plain(query, key, value, old, old_values)
    assert torch.allclose(plain, _rows_fused(query, key, value, old, old_values), atol=1e-5)


def test_a_long_beginning_is_attended_to_by_the_fused_attention(monkeypatch):
    import hbench.engines.shared_attention as module

    monkeypatch.setattr(module, "LONG", 2)
    _, found = packed(sharing(adapted()), Collator()(rows_of()))
    assert torch.allclose(found, apart(adapted(), rows_of()), atol=1e-5)


@pytest.mark.parametrize("kind", ["gemma3_text", "mistral"])
def test_a_model_that_does_not_attend_fully_is_left_as_it_is(kind):
    model = tiny(kind, sliding_window=4)
    before, attention = model.forward, model.config._attn_implementation
    assert not share_prompts(model)
    assert model.forward == before and model.config._attn_implementation == attention


def test_rows_that_are_not_packed_are_refused():
    with pytest.raises(ValueError, match="packed"):
        sharing(adapted())(input_ids=torch.tensor([[4, 5]]))
