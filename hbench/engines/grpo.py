"""Group-relative policy optimisation of edits on the rewards that they earn, thin over TRL."""

import math
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hbench.core.digest import Json, derive_seed
from hbench.core.failure import StepError
from hbench.core.training import Note, Score, Task
from hbench.engines import trainable
from hbench.engines.policy_decoder import PolicyDecoder
from hbench.engines.sft import order_of
from hbench.engines.shared_prompt import SharedPrompts, share_prompts
from hbench.engines.trainer_log import Log, fit, latest, trainer_arguments, update_of

if TYPE_CHECKING:
    import torch

MOST_MISSING = 0.05  # of an update's completions may be without a reward
MOST_IN_A_ROW = 2  # updates may hold one such
LOGGED = {
    "reward": "reward",
    "reward_std": "reward_std",
    "entropy": "entropy",
    "kl": "kl",
    "completions/clipped_ratio": "clipped_share",
    "completions/mean_length": "completion_tokens",
    "clip_ratio/region_mean": "ratio_clipped_share",
    **{name: name for name in ("groups_without_signal", "none_share", "reward_seconds", "reward_share")},
    "generation_seconds": "generation_seconds",
}


def train_grpo(task: Task, prompts: Sequence[Json], score: Score, note: Note) -> None:
    """Trains on completions of `prompts`, [{"context", "messages"}]; leaves task.folder/final. Each process calls it.

    An update draws recipe's `prompts` x `group` completions over all processes; with `iterations` above 1, the updates
    that follow learn from the same ones and have no rows about rewards. Draws depend on task.seed, the update and the
    completion's place in it alone. A completion that `score` gives None, and a group with fewer than two rewards, gives
    no gradient. Raises StepError, in every process and behind a checkpoint, when more than 5 % of an update's
    completions have no reward, or three updates in a row hold one (a resumed training counts anew).
    """
    from datasets import Dataset

    recipe = task.recipe
    model, tokenizer = trainable.load(task)
    policy = PolicyDecoder(task, model, tokenizer)
    draws = math.ceil(recipe["updates"] / recipe["iterations"]) * recipe["prompts"]
    rows = [{"prompt": list(each["messages"]), "context": each["context"]} for each in prompts]
    order = order_of(range(len(rows)), draws, derive_seed(task.seed, "contexts"))
    trainer = _trainer_class()(
        task,
        policy,
        score,
        model=model,
        args=grpo_arguments(task),
        train_dataset=Dataset.from_list(rows).select(order),
        processing_class=tokenizer,
        callbacks=[GrpoLog(note, LOGGED)],
    )
    fit(trainer, task, tokenizer)


def vllm_mode(task: Task) -> str | None:
    """TRL's name for the vLLM that draws completions: colocate or server; None when the training processes do."""
    generation = task.machine.get("generation") or "transformers"
    return None if generation == "transformers" else generation.removeprefix("vllm_")


def _vllm_arguments(task: Task) -> dict[str, Any]:
    """What TRL is told of the vLLM that draws completions; nothing where there is none."""
    if not vllm_mode(task):
        return {}
    machine, share = task.machine, task.machine.get("vllm_memory_share")
    return {
        "use_vllm": True,
        "vllm_mode": vllm_mode(task),
        "vllm_server_base_url": machine.get("vllm_url"),
        "vllm_enable_sleep_mode": machine.get("vllm_sleep", False),
        **({"vllm_gpu_memory_utilization": share} if share else {}),
    }


def grpo_arguments(task: Task) -> Any:
    """TRL's GRPOConfig. Raises StepError for what cannot be shared by the processes."""
    from trl import GRPOConfig

    recipe = task.recipe
    shared = trainer_arguments(task)
    shared["save_steps"] = math.ceil(shared["save_steps"] / recipe["iterations"]) * recipe["iterations"]
    return GRPOConfig(
        **shared,
        **group_batches(task),
        **_vllm_arguments(task),
        num_generations=recipe["group"],
        max_completion_length=recipe["max_tokens"],
        temperature=recipe["temperature"],
        top_p=recipe["top_p"],
        beta=recipe["kl"],
        disable_dropout=True,  # else the same completion has another probability each time it is looked at
        epsilon=recipe["clip_low"],
        epsilon_high=recipe["clip_high"],
        # TRL averages bnpo over a micro-batch, which is the machine's affair; over a whole update it is dapo.
        loss_type="dapo" if recipe["loss"] == "bnpo" else recipe["loss"],
        scale_rewards=recipe["scale"],
        num_iterations=recipe["iterations"],
        shuffle_dataset=False,
        chat_template_kwargs=(task.model.sampling.extra or {}).get("chat_template_kwargs") or {},
    )


def group_batches(task: Task) -> dict[str, int]:
    """How an update is cut for memory: into whole groups where machine's micro_batch allows, else as large as it does."""
    group = task.recipe["group"]
    rows = task.recipe["prompts"] * group
    if rows % task.processes:
        raise StepError(f"{rows} completions an update cannot be shared by {task.processes} processes")
    share = rows // task.processes
    most = min(task.machine.get("micro_batch") or 8, share)
    sizes = [size for size in range(1, most + 1) if share % size == 0]
    size = max(sizes, key=lambda size: (size % group == 0, size))
    return {"per_device_train_batch_size": size, "gradient_accumulation_steps": share // size}


class GrpoLog(Log):
    """Adds what share of an update's time the trainer waited for rewards."""

    def on_log(self, arguments: Any, state: Any, control: Any, logs: Json, **rest: Any) -> None:
        if "reward_seconds" in logs:
            logs["reward_share"] = logs["reward_seconds"] / (time.perf_counter() - self._started)
        super().on_log(arguments, state, control, {k: v for k, v in logs.items() if v is not None}, **rest)


class Updates(SharedPrompts):
    """Laid over TRL's GRPOTrainer: rewards by `score`, generations counted, groups kept together, the stopping rule."""

    def __init__(self, task: Task, policy: PolicyDecoder, score: Score, **given: Any):
        self.task, self.policy, self.score = task, policy, score
        self.trouble: Exception | None = None
        self.updates_missing = 0  # in a row, up to now
        rollout = None if vllm_mode(task) else self._rollout
        super().__init__(reward_funcs=self._rewards, rollout_func=rollout, **given)
        models = [each for each in (self.model, self.ref_model) if each is not None]
        wanted = task.machine.get("share_prompts", True)
        self.shares_prompts = wanted and all([share_prompts(each, self.temperature) for each in models])

    @property
    def update(self) -> int:
        """The one being made, from 1."""
        return self.state.global_step + 1

    def _prepare_inputs(self, generation_batch: Any) -> Any:
        """TRL's, without its shuffling: it would tear groups apart, and an update sums over all of it anyway."""
        from trl.trainer.utils import split_tensor_dict

        parts = self.args.steps_per_generation
        if self._step % (parts * self.num_iterations) == 0 or self._buffered_inputs is None:
            whole = self._generate_and_score_completions(generation_batch)
            self._buffered_inputs = split_tensor_dict(whole, parts)
        return self._buffered_inputs[self._step % parts]

    def _generate(self, prompts: Any) -> Any:
        started = time.perf_counter()
        generated = super()._generate(prompts)
        self._metrics["train"]["generation_seconds"].append(time.perf_counter() - started)
        return generated

    def _rollout(self, prompts: Sequence[Json], _: Any) -> Json:
        """One completion to each of this process's prompts, exactly as it was drawn."""
        self.policy.refresh()
        first = self.task.rank * len(prompts)
        seeds = [derive_seed(self.task.seed, self.update, first + place) for place in range(len(prompts))]
        rows = self.policy.draw(prompts, seeds)
        return {
            "prompt_ids": [list(row.prompt) for row in rows],
            "completion_ids": [row.tokens for row in rows],
            "logprobs": None,
        }

    def _rewards(self, completion_ids: Sequence[Sequence[int]], context: Sequence[int], **_: Any) -> list[float | None]:
        """What TRL asks for this process's completions. What goes wrong waits until all processes know of it."""
        responses = [self.policy.respond(ids) for ids in completion_ids]
        try:
            found = self.score(self.update, context, responses, self.policy.again(self.update))
        except Exception as trouble:
            self.trouble = trouble
            return [None] * len(responses)
        return [None if each is None or not math.isfinite(each) else float(each) for each in found]

    def _calculate_rewards(self, *given: Any) -> "torch.Tensor":
        """(completions of all processes, 1), NaN where there is no reward; the same in every process."""
        started = time.perf_counter()
        rewards = super()._calculate_rewards(*given)
        broken = self._any(self.trouble is not None)
        logged, groups = self._metrics["train"], rewards.view(-1, self.num_generations)
        logged["reward_seconds"].append(time.perf_counter() - started)
        missing = rewards.isnan().float().mean().item()
        logged["none_share"].append(missing)
        logged["groups_without_signal"].append(float(sum(map(_same, groups.tolist()))))
        self.updates_missing = self.updates_missing + 1 if missing else 0
        if broken or missing > MOST_MISSING or self.updates_missing > MOST_IN_A_ROW:
            self._stop(int(rewards.isnan().sum()), len(rewards))
        return rewards

    def _any(self, here: bool) -> bool:
        """Whether it is so in any process."""
        import torch

        return self.accelerator.reduce(torch.tensor(float(here), device=self.accelerator.device)).item() > 0

    def _stop(self, missing: int, count: int) -> None:
        """Saves what the updates before this one learned, and raises, in every process."""
        if self.state.global_step > update_of(latest(self.task.folder)):
            self._save_checkpoint(self.model, trial=None)
            self.callback_handler.on_save(self.args, self.state, self.control)
        if self.trouble is not None:
            raise self.trouble
        raise StepError(
            f"update {self.update}: no reward could be had for {missing} of {count} completions, in a row with "
            f"{self.updates_missing - 1} updates before. The same command goes on from here"
        )

    def create_model_card(self, *_: Any, **__: Any) -> None:
        """None is wanted beside a checkpoint."""

    def _send_telemetry(self) -> None:
        """Nobody is told."""


def _same(rewards: Sequence[float]) -> bool:
    """Whether a group teaches nothing: fewer than two rewards, or all equal."""
    known = [reward for reward in rewards if not math.isnan(reward)]
    return len(known) < 2 or max(known) == min(known)


def _trainer_class() -> type:
    from trl import GRPOTrainer

    return type("EditTrainer", (Updates, GRPOTrainer), {})
