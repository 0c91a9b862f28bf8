"""The model that a training step changes: loaded with a LoRA adapter or whole, saved as a checkpoint."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.folder_digest import folder_digest
from hbench.core.model import ModelRef
from hbench.core.published import without_places
from hbench.core.training import Task
from hbench.engines import embedded
from hbench.engines.local_model import compute_dtype, is_adapter, merged, source, told_plainly, weights_dtype

if TYPE_CHECKING:
    import torch

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"  # as peft and vLLM call them
LEFT_OUT = ("peft_version", "auto_mapping", "revision")  # say nothing about the weights, so they stay out of the digest


def load(task: Task) -> tuple[Any, Any]:
    """(model, tokenizer): a PeftModel where the recipe has `lora`, else the whole model; in train mode, on the CPU.

    Under LoRA the base is in compute_dtype, frozen, and the adapter in float32; whole weights are float32, so that small
    updates are not rounded away. Goes on from `task.model.files` where there are any: an adapter is trained
    further, or laid on the base for good where the recipe has no `lora`. Raises HbenchError.
    """
    identity, files, lora = task.model.base, task.model.files, task.recipe.get("lora")
    whole = files is not None and not is_adapter(files)
    if whole and lora:
        raise StepError("an adapter on weights that were trained whole is not kept apart from them: set lora to null")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(task.machine.get("threads") or 1)
    dtype = weights_dtype(identity)
    if dtype == torch.float16:
        raise StepError("float16 holds no small gradients: name bfloat16 or float32 as the model's dtype to train it")
    found = source(identity, files)
    with told_plainly(identity), embedded.quiet_transformers():
        tokenizer = AutoTokenizer.from_pretrained(**found)
        model = AutoModelForCausalLM.from_pretrained(**found, dtype=dtype if lora else torch.float32, use_safetensors=True)
        model = model.to(compute_dtype(identity) if lora else torch.float32)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if files is not None and not whole:
        model = _continued(model, files, lora)
    elif lora:
        torch.manual_seed(task.seed)
        model = _fresh(model, lora)
    return model.train(), tokenizer


def save(model: Any, tokenizer: Any, folder: Path, base: str | None = None, state: Mapping | None = None) -> None:
    """Writes a checkpoint in bfloat16 into `folder`: an adapter as peft writes it, or weights, config and tokenizer.

    Equal weights make equal files, wherever they are trained. base: the name of the weights that an adapter belongs to.
    state: the gathered weights where they are spread over processes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if hasattr(model, "peft_config"):
        _save_adapter(model, folder, base, state)
    else:
        _save_whole(model, tokenizer, folder, state)


def checkpoint_json(model: ModelRef, folder: Path) -> Json:
    """What the step's value says of the checkpoint in `folder`. model: the one that was trained."""
    kind = "adapter" if is_adapter(folder) else "weights"
    return {"kind": kind, "base": model.base, "sha256": folder_digest(folder)}


def _fresh(model: Any, lora: Json) -> Any:
    """A LoRA adapter that changes nothing yet: B is zero."""
    from peft import LoraConfig, get_peft_model

    targets = lora.get("targets") or "all-linear"
    config = LoraConfig(
        task_type="CAUSAL_LM",
        r=lora["rank"],
        lora_alpha=lora["alpha"],
        lora_dropout=lora.get("dropout") or 0.0,
        target_modules=_linear_layers(model) if targets == "all-linear" else list(targets),
        layers_to_transform=_layers(model, lora.get("from_layer")),
    )
    try:
        return get_peft_model(model, config)
    except ValueError as wrong:  # no module has such a name
        raise StepError(f"lora: {wrong}") from None


def _continued(model: Any, files: Path, lora: Json | None) -> Any:
    """`model` with the adapter in `files`: to be trained further, or merged where `lora` is None."""
    if lora is None:
        return merged(model, files).requires_grad_(True)
    from peft import PeftConfig, PeftModel

    config = PeftConfig.from_pretrained(str(files))
    for name, had, wanted in (("rank", config.r, lora["rank"]), ("alpha", config.lora_alpha, lora["alpha"])):
        if had != wanted:
            raise StepError(f"the adapter to go on from has {name} {had:g}, the recipe says {wanted:g}")
    wanted = set(_linear_layers(model) if lora["targets"] == "all-linear" else lora["targets"])
    if set(config.target_modules) != wanted:
        had = ", ".join(sorted(config.target_modules))
        raise StepError(f"the adapter to go on from is on {had}, the recipe says {', '.join(sorted(wanted))}")
    config.lora_dropout = lora.get("dropout") or 0.0
    model = PeftModel.from_pretrained(model, str(files), config=config, is_trainable=True)
    for name, weight in model.named_parameters():
        if weight.requires_grad and _layer(name) < (lora.get("from_layer") or 0):
            weight.requires_grad_(False)
    return model


def _linear_layers(model: Any) -> list[str]:
    """Names of the linear modules of a layer, the one that makes the logits left out."""
    import torch

    last = model.get_output_embeddings()
    linear = [name for name, each in model.named_modules() if isinstance(each, torch.nn.Linear) and each is not last]
    return sorted({name.split(".")[-1] for name in linear})


def _layers(model: Any, first: int | None) -> list[int] | None:
    if not first:
        return None
    count = model.config.get_text_config().num_hidden_layers
    if first >= count:
        raise StepError(f"lora.from_layer: the model has layers 0 to {count - 1}, and {first} is none of them")
    return list(range(first, count))


def _layer(name: str) -> int:
    """Which layer a parameter belongs to, from 0; a large number for what belongs to none."""
    found = re.search(r"\.(\d+)\.", name)
    return int(found[1]) if found else 10**9


def _save_adapter(model: Any, folder: Path, base: str | None, state: Mapping | None) -> None:
    from peft import get_peft_model_state_dict
    from safetensors.torch import save_file

    weights = get_peft_model_state_dict(model, state_dict=state, save_embedding_layers=False)
    save_file({name: _rounded(weights[name]) for name in sorted(weights)}, folder / WEIGHTS, metadata={"format": "pt"})
    config = model.peft_config["default"].to_dict()
    config |= {"base_model_name_or_path": without_places(base), "inference_mode": True}
    kept = {key: value for key, value in config.items() if key not in LEFT_OUT and value not in (None, {})}
    kept["target_modules"] = sorted(kept["target_modules"])  # a set: without an order of its own
    _write_json(folder / CONFIG, kept)


def _save_whole(model: Any, tokenizer: Any, folder: Path, state: Mapping | None) -> None:
    once: dict[int, Any] = {}  # tied weights stay one tensor
    state = state or model.state_dict()
    state = {name: once.setdefault(each.data_ptr(), _rounded(each)) for name, each in state.items()}
    with embedded.quiet_transformers():
        model.save_pretrained(folder, state_dict=state)
        tokenizer.save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    _write_json(folder / "config.json", config | {"dtype": "bfloat16"})


def _rounded(weight: "torch.Tensor") -> "torch.Tensor":
    import torch

    return weight.detach().to("cpu", torch.bfloat16).contiguous()


def _write_json(file: Path, value: Json) -> None:
    file.write_text(json.dumps(value, indent=2, sort_keys=True) + "\n", encoding="utf-8")
