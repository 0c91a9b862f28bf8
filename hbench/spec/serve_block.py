"""`machine.models.<name>.serve`: a vLLM server that hbench starts itself."""

from typing import Any, Literal

from pydantic import Field, field_validator

from hbench.spec.block import Block, Number, Whole, wrong

OURS = {  # arguments that other fields give
    "model": "the model block's weights",
    "served_model_name": "served_name",
    "host": "hbench's own: 127.0.0.1",
    "port": "port",
    "api_key": "hbench's own",
    "enable_lora": "adapters",
    "max_loras": "adapters",
    "max_lora_rank": "adapter_rank",
    "enable_prefix_caching": "prefix_caching",
    "gpu_memory_utilization": "memory_share",
    "tensor_parallel_size": "gpus",
    "enable_sleep_mode": "hand_over",
    "trust_remote_code": "the field of that name, beside arguments",
    "revision": "the model block's revision",
    "quantization": "the model block's quantisation",
    "max_model_len": "the model block's context",
}


class ServeBlock(Block):
    """How hbench starts the server: when the model is first asked, with what the model block says; it ends with the run."""

    port: Whole | None = Field(None, ge=1, le=65535, description="Where it listens, on this machine alone; default: a free port.")
    python: str | None = Field(
        None, min_length=1, description="The Python that has vLLM, e.g. .venv-vllm/bin/python; default: the one hbench runs in."
    )
    gpus: tuple[Whole, ...] | None = Field(
        None, min_length=1, description="Numbers of its GPUs among those to be seen; one model is spread over all of them. Default: the first."
    )
    memory_share: Number | None = Field(None, gt=0, le=1, description="Share of a GPU's memory that it takes; default: vLLM's own.")
    adapters: Whole | None = Field(
        None,
        ge=0,
        description="LoRA adapters that one batch may use; any number is swapped in by name. 0: none. "
        "Default: as many as the run names or trains.",
    )
    adapter_rank: Whole = Field(
        32, ge=1, description="Highest rank of an adapter; vLLM knows 1, 8, 16, 32, 64, 128, 256, 320, 512. A higher one takes more memory."
    )
    prefix_caching: bool = Field(True, description="Whether what prompts begin with alike is read once; it changes no reply but for rounding.")
    hand_over: Literal["never", "sleep", "stop"] = Field(
        "never",
        description="While another model that hands over, a model in this process or a training has the device. never: it stays. "
        "sleep: it gives the GPU's memory back and keeps its weights in the machine's. stop: it ends, and is started again.",
    )
    trust_remote_code: bool = Field(
        False, description="Whether Python files that lie with the weights may run in the server. Elsewhere they never run."
    )
    start_timeout_s: Number = Field(900.0, gt=0, description="Longest wait for it to answer; large weights take minutes to load.")
    arguments: dict[str, Any] = Field(
        {}, description="Further arguments of `vllm serve`: {max_num_seqs: 64, enforce_eager: true} is --max-num-seqs 64 --enforce-eager. "
        "dtype: float32 computes in it, whatever the weights are: a CPU without bfloat16 is far faster so."
    )
    environment: dict[str, str | int | float] = Field(
        {}, description="Environment variables it is given beside ours, e.g. VLLM_CPU_KVCACHE_SPACE: 4. Recorded: no secrets."
    )

    @field_validator("arguments")
    @classmethod
    def _arguments(cls, value: dict[str, Any]) -> dict[str, Any]:
        named = {name.lstrip("-").replace("-", "_"): said for name, said in value.items()}
        if taken := sorted(set(named) & set(OURS)):
            raise wrong(f"{taken[0]} is not said here", OURS[taken[0]])
        return named
