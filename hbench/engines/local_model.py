"""A Hugging Face model and its tokenizer in this process."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.message import Request
from hbench.core.model import TRAINED
from hbench.engines import embedded

if TYPE_CHECKING:
    from hbench.engines.decoder import Decoder

LOADING = Lock()  # transformers makes weights under settings of the whole process: two loads at once spoil each other
UNKNOWN = ("quantisation", "chat_template")  # of an identity: what only a server can do so far


@dataclass(frozen=True)
class LocalModel:
    """context: tokens of prompt and completion together."""

    model: Any
    tokenizer: Any
    context: int

    def decoder(self, size: int) -> "Decoder":
        """A fresh decoder for up to `size` rows at once."""
        from hbench.engines.decoder import Decoder, end_tokens
        from hbench.engines.passes import passes_for

        ends = end_tokens(self.model, self.tokenizer)
        pad = self.tokenizer.pad_token_id
        passes = passes_for(self.model, size, min(ends, default=0) if pad is None else pad)
        return Decoder(passes, self.tokenizer, ends, size)

    def encode(self, request: Request) -> list[int]:
        """Token ids of the messages in the model's own chat template, up to where the assistant begins to speak.

        Raises ValueError without a template, for tools that it would pass over in silence, and whatever the template
        raises for messages that it refuses.
        """
        if not self.tokenizer.chat_template:
            raise ValueError("this model has no chat template")
        if request.tools and "tools" not in str(self.tokenizer.chat_template):
            raise ValueError("this model's chat template takes no tools: write calls as blocks (call: {kind: fenced})")
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


def check(identity: Json, files: Path | None = None) -> None:
    """Raises HbenchError when the weights are not here or cannot be run so; loads none."""
    found = source(identity, files)
    from transformers import AutoConfig

    with told_plainly(identity):
        AutoConfig.from_pretrained(**found)


def load(identity: Json, threads: int = 1, files: Path | None = None) -> LocalModel:
    """The model of `identity`: weights, and optionally revision, dtype and context; with what was trained, in `files`.

    An adapter is merged into the weights, whole weights take their place. threads: torch's, for the calling thread,
    which is the one to use the model in. Computes in compute_dtype. Raises HbenchError.
    """
    import torch

    torch.set_num_threads(threads)
    model, tokenizer = weights_of(identity, files)
    model = model.to(compute_dtype(identity))
    longest = getattr(model.config.get_text_config(), "max_position_embeddings", None) or 2048
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return LocalModel(model.eval().to(device), tokenizer, min(identity.get("context") or longest, longest))


def weights_of(identity: Json, files: Path | None = None) -> tuple[Any, Any]:
    """(model, tokenizer) as `load` takes them, still in the dtype that `identity` names. Raises HbenchError."""
    found = source(identity, files)
    from transformers import AutoModelForCausalLM, AutoTokenizer

    with LOADING, told_plainly(identity), embedded.quiet_transformers():
        tokenizer = AutoTokenizer.from_pretrained(**found)
        model = AutoModelForCausalLM.from_pretrained(**found, dtype=weights_dtype(identity), use_safetensors=True)
        return merged(model, files) if is_adapter(files) else model, tokenizer


def merged(model: Any, adapter: Path) -> Any:
    """`model`, its weights changed by the LoRA adapter in a folder. The sum is rounded once, from float32."""
    from peft import PeftModel
    from peft.tuners.lora import LoraLayer

    laid = PeftModel.from_pretrained(model, str(adapter))
    for each in laid.modules():
        if isinstance(each, LoraLayer):
            weight, delta = each.get_base_layer().weight, each.get_delta_weight("default")
            weight.data = (weight.data.float() + delta.float()).to(weight.dtype)
    return laid.unload()


def is_adapter(files: Path | None) -> bool:
    """Whether a checkpoint's folder holds a LoRA adapter, and not whole weights."""
    return files is not None and (files / "adapter_config.json").is_file()


def weights_dtype(identity: Json) -> Any:
    """torch's dtype of the weights: what `identity` names, else bfloat16 where it is fast and float32 elsewhere."""
    import torch

    return getattr(torch, identity.get("dtype") or ("bfloat16" if has_bfloat16() else "float32"))


def compute_dtype(identity: Json) -> Any:
    """torch's dtype to compute in: that of the weights. On a CPU that has no bfloat16 it is float32 in its place.

    The weights stay what they are, and such a CPU is some fifty times slower in bfloat16.
    """
    import torch

    named = weights_dtype(identity)
    return torch.float32 if named == torch.bfloat16 and not has_bfloat16() else named


def has_bfloat16() -> bool:
    """Whether this machine multiplies in bfloat16 by itself: a GPU, or a CPU with AVX512."""
    import torch

    return torch.cuda.is_available() or torch.ops.mkldnn._is_mkldnn_bf16_supported()


def source(identity: Json, files: Path | None = None) -> Json:
    """What transformers loads the model and its tokenizer from, as arguments: whole weights in `files`, else the base.

    The base is a folder, or a name that transformers finds in its own cache or fetches. Raises HbenchError.
    """
    for key in UNKNOWN:
        if identity.get(key):
            raise HbenchError(f"a model in this process cannot have '{key}' yet: serve it, and set base_url")
    for key in TRAINED:
        if identity.get(key) and files is None:
            raise HbenchError(f"nothing says where the {key} {identity[key][:16]} of {identity['weights']} lies")
    _need("local", "torch", "transformers")
    if files is not None and not is_adapter(files):
        return {"pretrained_model_name_or_path": str(files)}
    if is_adapter(files):
        _need("train", "peft")
    weights = identity["weights"]
    folder = str(embedded.unpack(weights)) if weights.startswith(embedded.PREFIX) else weights
    return {"pretrained_model_name_or_path": folder, "revision": identity.get("revision")}


def _need(extra: str, *libraries: str) -> None:
    for library in libraries:
        try:
            import_module(library)
        except ImportError as missing:
            hint = f"pip install 'hbench[{extra}]'"
            raise HbenchError(f"a model in this process needs the extra '{extra}' ({missing}): {hint}") from None


class told_plainly:
    """While open, what transformers raises for absent or odd weights becomes an HbenchError."""

    def __init__(self, identity: Json):
        self.weights = identity["weights"]

    def __enter__(self) -> None: ...

    def __exit__(self, _, trouble: BaseException | None, __) -> None:
        if isinstance(trouble, OSError | ValueError | KeyError):
            first = (str(trouble).splitlines() or [""])[0]
            raise HbenchError(f"the model {self.weights} cannot be loaded: {first}") from None
