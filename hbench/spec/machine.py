"""Settings that cannot change results: never hashed. How models are reached, how much runs at once, the sandbox."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr, model_validator

from hbench.core.digest import Json
from hbench.spec.block import Block, Number, Whole, wrong
from hbench.spec.budget import BudgetBlock, PriceBlock
from hbench.spec.serve_block import ServeBlock

RECORDED = "recorded:"


def _variable(value: str) -> str:
    # Someone may have put the key itself here, so it is not repeated in the message.
    if not value.replace("_", "a").isalnum() or value[0].isdigit():
        raise wrong("expected the name of an environment variable", "the key itself never stands in a spec")
    return value


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Tracker = Literal["tensorboard", "wandb"]
Trackers = Annotated[tuple[Tracker, ...], BeforeValidator(_listed, json_schema_input_type=tuple[Tracker, ...] | Tracker)]


class ReachBlock(Block):
    """How one model is reached."""

    engine: Literal["auto", "openai", "transformers", "recorded"] = Field(
        "auto", description="auto: a server where base_url, port or serve is given, else transformers in this process."
    )
    base_url: str | None = Field(None, description="OpenAI-compatible server, e.g. http://127.0.0.1:8000/v1.")
    port: Whole | None = Field(None, ge=1, le=65535, description="The same on this machine.")
    serve: ServeBlock | None = Field(None, description="A vLLM server that hbench starts for it; {} takes every default.")
    max_in_flight: Whole = Field(256, ge=1, description="Requests under way at once; 256 fill one server.")
    requests_per_minute: Whole | None = Field(None, ge=1, description="Rate limit; default: none.")
    tokens_per_minute: Whole | None = Field(
        None, ge=1, description="Rate limit over prompt and completion; default: none."
    )
    timeout_s: Number = Field(
        600.0, gt=0, description="Seconds for one try of one request; long thoughts take minutes."
    )
    retries: Whole = Field(
        5, ge=0, description="Further tries after 429, 5xx and lost connections, with growing waits."
    )
    batch: Whole = Field(
        16, ge=1, description="Most requests in one batch of an in-process engine; 8 to 16 suit a CPU."
    )
    threads: Whole = Field(1, ge=1, description="Torch threads; two on two busy cores are slower than one.")
    latency_ms: Number | tuple[Number, Number] = Field(
        0.0, description="Milliseconds that a recorded reply waits, or [least, most], to rehearse a slow server."
    )
    price: PriceBlock | None = Field(None, description="What its calls cost, for machine.budget and the ledger; default: nothing.")
    served_name: str | None = Field(None, description="What the server calls the model; default: its weights.")
    api_key_env: Annotated[str, AfterValidator(_variable)] | None = Field(
        None, min_length=1, description="Name of the environment variable that holds the key; never the key."
    )

    @model_validator(mode="after")
    def _reached_one_way(self) -> "ReachBlock":
        said = [name for name in ("base_url", "port", "api_key_env") if getattr(self, name) is not None]
        said += [] if self.engine in ("auto", "openai") else ["engine"]
        if self.serve is not None and said:
            hint = f"leave {said[0]} out, or set it to {'auto' if said[0] == 'engine' else 'null'}; a started server's own is serve.port"
            raise wrong(f"serve starts a server, and {said[0]} names another way to reach the model", hint)
        return self


class TrainingBlock(Block):
    """How this machine trains: in processes of its own, which the run starts and ends."""

    processes: Whole = Field(1, ge=1, description="More than one are started by `accelerate launch`; one a GPU.")
    threads: Whole = Field(2, ge=1, description="Torch threads of each process; no more than it has quiet cores.")
    micro_batch: Whole = Field(
        8, ge=1, description="Most sequences in one gradient pass; an update's are cut into so many: less memory, more time."
    )
    save_every: Whole = Field(10, ge=1, description="Updates between checkpoints: what a kill costs at most.")
    reward_timeout_s: Number = Field(
        600.0, gt=0, description="Longest wait for the trials of an update; a completion that is late has no reward."
    )
    generation: Literal["transformers", "vllm_colocate", "vllm_server"] = Field(
        "transformers", description="What draws completions: the trained model itself, or vLLM inside or beside it."
    )
    vllm_url: str | None = Field(None, description="The server of vllm_server (`trl vllm-serve`).")
    vllm_memory_share: Number | None = Field(
        None, gt=0, le=1, description="Share of a GPU's memory that vllm_colocate takes; default: TRL's own, 0.3."
    )
    vllm_sleep: bool = Field(False, description="Whether vllm_colocate gives that memory back while gradients are computed.")
    share_prompts: bool = Field(
        True, description="Completions of one prompt are packed behind one copy of it: the same gradient, read once."
    )
    accelerate: str | None = Field(None, description="A file that `accelerate config` wrote, e.g. for FSDP.")
    report_to: Trackers = Field(
        (), description="Trackers that TRL also writes to, below results/trackers; wandb asks for WANDB_API_KEY or WANDB_MODE=offline."
    )


class RayBlock(Block):
    """How a Ray cluster is used: its machines run harnesses, graders and trainings, this one asks the models for them."""

    address: str | None = Field(
        None, description="HOST:PORT of its head; default: $RAY_ADDRESS, else the cluster that this machine is part of, else one is started here."
    )
    batch: Whole = Field(32, ge=1, description="Most rollouts of a step in one process; more are spread over the cluster, a core each.")


class MachineBlock(Block):
    """What this machine may use. Recorded with each run, hashed nowhere."""

    workers: Whole = Field(16, ge=1, description="Steps under way at once; most of them wait for a model.")
    in_flight: Whole = Field(64, ge=1, description="Rollouts alive at once over all steps.")
    sandbox: Literal["auto", "namespaces", "landlock", "none"] = Field(
        "auto", description="Jail for model-written code; auto takes the strongest there is. none runs it unconfined."
    )
    fold_s: Number = Field(5.0, gt=0, description="Seconds between folds into the database while a run goes on.")
    executor: Literal["local", "ray"] = Field(
        "local", description="Where steps run: threads on this machine, or tasks on a Ray cluster whose machines share the results folder."
    )
    ray: RayBlock = Field(default_factory=RayBlock, description="How the Ray cluster is used.")
    models: dict[str, ReachBlock] = Field({}, description="Model name -> how it is reached.")
    budget: BudgetBlock = Field(default_factory=BudgetBlock, description="The most that a run and its arms may use; default: no limit.")
    training: TrainingBlock = Field(default_factory=TrainingBlock, description="How training steps are run.")
    outside_env: tuple[Annotated[str, AfterValidator(_variable)], ...] = Field(
        (), description="Names of environment variables that outside programs get, beside PATH, HOME and LANG; never values."
    )

    _written: Json = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _one_machine(self) -> "MachineBlock":
        serving = [reach.serve for reach in self.models.values() if reach.serve]
        if self.executor == "ray" and any(serve.hand_over != "never" for serve in serving):
            hint = "executor: local, or GPUs of its own for every model"
            raise wrong("serve.hand_over shares a device among the steps of one machine, and executor: ray has several", hint)
        return self

    def to_json(self) -> Json:
        """What may be recorded: the block with environment variables named, never read."""
        return super().to_json() if self._written is None else {**super().to_json(), **self._written}

    def as_written(self, written: Json) -> "MachineBlock":
        """The same block, recorded as `written`."""
        made = self.model_copy()
        made._written = written
        return made

    def model_settings(self, name: str) -> Json:
        """How the model that a ModelRef calls `name` is reached; the defaults where nothing is said."""
        recorded = name.startswith(RECORDED)
        reach = self.models.get("recorded" if recorded else name, ReachBlock()).to_json()
        said = {key: value for key, value in reach.items() if value is not None}
        return said | ({"engine": "recorded", "file": name.removeprefix(RECORDED)} if recorded else {})
