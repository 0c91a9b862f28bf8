"""GRPO for real on a tiny model: it learns, takes no signal from what has no reward, and goes on where it was stopped."""

import json

import pytest

from hbench.core.failure import StepError
from hbench.core.training import Task
from hbench.engines import local_model, trainable
from hbench.engines.grpo import Updates, group_batches, grpo_arguments, train_grpo
from hbench.engines.trainer_log import latest, update_of
from tests.engines.training import LORA, tiny_ref
from tests.where import cases

torch = pytest.importorskip("torch")
pytest.importorskip("trl")

RECIPE = {
    "updates": 4,
    "prompts": 2,
    "group": 4,
    "learning_rate": 2e-2,
    "warmup": 0,
    "schedule": "constant",
    "clip": 1.0,
    "weight_decay": 0.0,
    "temperature": 1.0,
    "top_p": 1.0,
    "max_tokens": 6,
    "clip_low": 0.2,
    "clip_high": 0.28,
    "kl": 0.0,
    "loss": "dapo",
    "scale": "group",
    "iterations": 1,
    "lora": LORA,
}
MACHINE = {"micro_batch": 4, "save_every": 2, "share_prompts": True}
PROMPTS = [{"context": 10 * place, "messages": [{"role": "user", "content": text}]} for place, text in enumerate("abc")]


@pytest.fixture(scope="module")
def ref(tmp_path_factory):
    return tiny_ref(tmp_path_factory.mktemp("tiny") / "model")


def letters(update, contexts, responses, generate):
    """The share of letters in what was said."""
    return [sum(each.isalpha() for each in one.text) / 6 for one in responses]


def job(ref, folder, machine=MACHINE, **recipe) -> Task:
    return Task(ref, {**RECIPE, **recipe}, 7, folder, machine={**MACHINE, **machine})


class Run:
    """One training: what was noted, by (update, name), and every completion, by (update, place)."""

    def __init__(self, task, score=letters):
        self.noted, self.said, self.contexts = {}, {}, {}

        def scored(update, contexts, responses, generate):
            self.said[update], self.contexts[update] = list(responses), list(contexts)
            return score(update, contexts, responses, generate)

        train_grpo(task, PROMPTS, scored, lambda update, name, value: self.noted.__setitem__((update, name), value))
        self.weights = weights(task.folder / "final")

    def row(self, name):
        return [value for (_, each), value in sorted(self.noted.items()) if each == name]


def weights(folder):
    from safetensors.torch import load_file

    return {n: w for file in sorted(folder.glob("*.safetensors")) for n, w in load_file(file).items()}


def equal(found, wanted):
    return found.keys() == wanted.keys() and all(torch.equal(found[name], wanted[name]) for name in wanted)


@pytest.mark.parametrize("lora", [LORA, None], ids=["adapter", "whole"])
@pytest.mark.slow
def test_what_is_rewarded_is_said_more_often(ref, tmp_path, lora):
    run = Run(job(ref, tmp_path, lora=lora, updates=12, prompts=3, learning_rate=2e-2 if lora else 3e-3))
    rewards = run.row("reward")
    assert len(rewards) == 12 and sum(rewards[-4:]) > 1.2 * sum(rewards[:4])
    served = local_model.load(ref.identity, files=tmp_path / "final")
    assert not equal(dict(served.model.named_parameters()), dict(local_model.load(ref.identity).model.named_parameters()))
    assert {name for update, name in run.noted if update == 1} >= {
        "loss", "learning_rate", "grad_norm", "seconds", "reward", "reward_std", "entropy", "clipped_share", "none_share",
        "completion_tokens", "groups_without_signal", "reward_seconds", "reward_share", "generation_seconds",
    }  # fmt: skip


def test_completions_are_told_as_they_were_drawn(ref, tmp_path):
    run = Run(job(ref, tmp_path, updates=3, prompts=3))
    for update, said in run.said.items():
        assert sorted(run.contexts[update]) == [0] * 4 + [10] * 4 + [20] * 4  # every context once an epoch
        assert {one.finish_reason for one in said} <= {"stop", "length"}
        assert all(one.completion_tokens == 6 for one in said if one.finish_reason == "length")
        cut = [one.finish_reason == "length" for one in said]
        assert run.noted[update, "clipped_share"] == pytest.approx(sum(cut) / 12)
        lengths = [one.completion_tokens for one in said]
        assert run.noted[update, "completion_tokens"] == pytest.approx(sum(lengths) / 12)


def test_a_trained_policy_draws_what_its_checkpoint_draws(ref, tmp_path):
    """The copy that completions come from is base + B·A, however many updates were made."""
    from hbench.engines.policy_decoder import PolicyDecoder

    task = job(ref, tmp_path)
    torch.manual_seed(3)
    model, tokenizer = trainable.load(task)
    policy, messages = PolicyDecoder(task, model, tokenizer), [each["messages"] for each in PROMPTS]
    for _ in range(3):
        with torch.no_grad():
            for weight in (w for w in model.parameters() if w.requires_grad):
                weight.copy_((torch.randn_like(weight) * 0.3).bfloat16())
        policy.refresh()
    trainable.save(model, tokenizer, tmp_path / "saved")
    again = PolicyDecoder(task, model, tokenizer)
    again.__dict__["copy"] = local_model.load(ref.identity, files=tmp_path / "saved")
    drawn = [[row.tokens for row in each.draw(messages, [1, 2, 3])] for each in (policy, again)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("extra", [{}, {"lora": None}, {"kl": 0.1, "iterations": 2}], ids=["adapter", "whole", "kl"])
@pytest.mark.slow
def test_a_resumed_training_goes_on_as_if_it_had_never_stopped(ref, tmp_path, extra):
    class Killed(BaseException):
        pass

    def killed(update, *rest):
        if update == 5:
            raise Killed
        return letters(update, *rest)

    recipe = {"updates": 6, "prompts": 2, **extra}
    whole = Run(job(ref, tmp_path / "whole", **recipe))
    with pytest.raises(Killed):
        Run(job(ref, tmp_path / "cut", **recipe), killed)
    assert update_of(latest(tmp_path / "cut")) == 4
    rest = Run(job(ref, tmp_path / "cut", **recipe))
    assert rest.said.keys() == {5, 6} - ({6} if extra.get("iterations") else set())
    for update in rest.said:
        assert rest.said[update] == whole.said[update] and rest.contexts[update] == whole.contexts[update]
    assert equal(rest.weights, whole.weights)
    for key, value in rest.noted.items():
        assert "second" in key[1] or "share" in key[1] or value == whole.noted[key]


def advantages(ref, folder, monkeypatch, rewards, scale):
    """What each completion of one group is worth, when these are its rewards."""
    found, before = [], Updates._prepare_inputs

    def seen(self, batch):
        inputs = before(self, batch)
        found.extend(inputs["advantages"].tolist())
        return inputs

    monkeypatch.setattr(Updates, "_prepare_inputs", seen)
    monkeypatch.setattr("hbench.engines.grpo.MOST_MISSING", 1.0)
    size = len(rewards)
    run = Run(job(ref, folder, updates=1, prompts=1, group=size, scale=scale), lambda *_: list(rewards))
    return found, run


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("scale, kept", [("none", "centred"), ("group", "scaled_sample")])
@pytest.mark.slow
def test_no_reward_is_no_signal_and_no_zero(ref, tmp_path, monkeypatch, place, scale, kept):
    """TRL leaves None out of mean and deviation (sample, plus 1e-4); shared case 111."""
    case = json.loads((cases() / "111-reward-none-in-group" / "case.json").read_text())[place]
    found, run = advantages(ref, tmp_path, monkeypatch, case["rewards"], scale)
    skipped = case.get("expected") == "group skipped"
    wanted = [0.0] * len(found) if skipped else [each or 0.0 for each in case[kept]]
    assert found == pytest.approx(wanted, abs=1e-3)
    assert run.row("groups_without_signal") == [float(skipped)]
    assert run.row("none_share") == [pytest.approx(case["rewards"].count(None) / len(found))]
    if skipped:
        assert run.row("grad_norm") == [0.0]


def test_a_group_of_equal_rewards_teaches_nothing_and_is_counted(ref, tmp_path):
    run = Run(job(ref, tmp_path, updates=1), lambda update, contexts, *_: [0.5 if c == 0 else 1.0 for c in contexts])
    assert run.row("groups_without_signal") == [2.0] and run.row("grad_norm") == [0.0]


@pytest.mark.slow
def test_too_many_completions_without_reward_stop_it_behind_a_checkpoint(ref, tmp_path):
    def broken(update, contexts, responses, _):
        rewards = letters(update, contexts, responses, None)
        return [None, *rewards[1:]] if update == 4 else rewards

    with pytest.raises(StepError, match="update 4: no reward could be had for 1 of 8 completions"):
        Run(job(ref, tmp_path), broken)
    assert update_of(latest(tmp_path)) == 3
    whole, rest = Run(job(ref, tmp_path / "whole")), Run(job(ref, tmp_path))
    assert rest.said.keys() == {4} and equal(rest.weights, whole.weights)


def test_three_updates_in_a_row_with_a_missing_reward_stop_it(ref, tmp_path):
    def now_and_then(update, contexts, responses, _):
        missing = update in (1, 2, 4, 5, 6)
        return [None if missing and place == 0 else float(place) for place in range(len(responses))]

    with pytest.raises(StepError, match="update 6: no reward could be had for 1 of 24 completions"):
        Run(job(ref, tmp_path, updates=8, prompts=6), now_and_then)


def test_trouble_in_the_reward_is_raised_behind_a_checkpoint(ref, tmp_path):
    def trouble(update, *rest):
        if update == 4:
            raise StepError("the solver is gone")
        return letters(update, *rest)

    with pytest.raises(StepError, match="the solver is gone"):
        Run(job(ref, tmp_path), trouble)
    assert update_of(latest(tmp_path)) == 3


def test_packed_and_padded_groups_learn_the_same(ref, tmp_path):
    runs = [Run(job(ref, tmp_path / str(on), {"share_prompts": on})) for on in (True, False)]
    assert runs[0].said == runs[1].said
    for name in ("loss", "grad_norm", "entropy"):
        assert runs[0].row(name) == pytest.approx(runs[1].row(name), rel=1e-3, abs=1e-5)
    for name, weight in runs[0].weights.items():
        assert torch.allclose(weight.float(), runs[1].weights[name].float(), atol=2e-2)


@pytest.mark.parametrize("loss", ["dapo", "grpo", "bnpo", "dr_grpo"])
@pytest.mark.slow
def test_how_an_update_is_cut_for_memory_changes_nothing(ref, tmp_path, loss):
    runs = [Run(job(ref, tmp_path / str(size), {"micro_batch": size}, updates=2, loss=loss)) for size in (2, 4, 8)]
    for run in runs[1:]:
        assert run.said == runs[0].said
        assert run.row("grad_norm") == pytest.approx(runs[0].row("grad_norm"), rel=1e-3)


def test_groups_stay_whole_where_the_machine_allows():
    def cut(prompts, group, micro_batch, processes=1):
        recipe, machine = {"prompts": prompts, "group": group}, {"micro_batch": micro_batch}
        found = group_batches(Task(None, recipe, 0, None, processes=processes, machine=machine))
        return found["per_device_train_batch_size"], found["gradient_accumulation_steps"]

    assert cut(4, 8, 8) == (8, 4) and cut(4, 8, 20) == (16, 2) and cut(4, 6, 9) == (6, 4)
    assert cut(4, 8, 4) == (4, 8) and cut(4, 8, 64, processes=2) == (16, 1)
    with pytest.raises(StepError, match="3 processes"):
        cut(4, 8, 8, processes=3)


def test_one_more_response_is_drawn_by_the_present_policy(ref, tmp_path):
    told = []

    def asks(update, contexts, responses, generate):
        messages = PROMPTS[0]["messages"]
        told.append([generate([messages, messages]), generate([messages])])
        return letters(update, contexts, responses, generate)

    for folder in ("one", "two"):
        Run(job(ref, tmp_path / folder, updates=2), asks)
    assert told[:2] == told[2:]
    assert all(len(first) == 2 and first[0] != first[1] for first, _ in told)


def test_a_prompt_that_fills_the_context_stops_it(ref, tmp_path):
    long = [{"context": 0, "messages": [{"role": "user", "content": "a" * 500}]}]
    with pytest.raises(StepError, match="the context"):
        train_grpo(job(ref, tmp_path), long, letters, lambda *_: None)


def test_a_machine_that_draws_with_vllm_tells_trl_how(tmp_path):
    machine = {**MACHINE, "generation": "vllm_colocate", "vllm_sleep": True, "vllm_memory_share": 0.5}
    told = grpo_arguments(Task(tiny_ref(tmp_path / "model"), RECIPE, 0, tmp_path, machine=machine))
    assert (told.use_vllm, told.vllm_mode, told.vllm_enable_sleep_mode, told.vllm_gpu_memory_utilization) == (True, "colocate", True, 0.5)
