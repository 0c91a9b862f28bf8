"""A LoRA adapter merged into its base and written as an ordinary Hugging Face folder, through transformers and peft."""

from pathlib import Path

from hbench.core.digest import Json
from hbench.engines import embedded
from hbench.engines.local_model import source, told_plainly, weights_of


def write_merged(base: Json, adapter: Path, folder: Path) -> None:
    """Writes the model of identity `base` with the adapter in it, and its tokenizer, into `folder`.

    In the dtype that the identity names, else in the one its weights were saved in. Raises HbenchError when the base is
    not here, or an extra is missing.
    """
    dtype = base.get("dtype") or _saved_dtype(base)
    model, tokenizer = weights_of({**base, "dtype": dtype}, adapter)
    with told_plainly(base), embedded.quiet_transformers():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def _saved_dtype(base: Json) -> str:
    found = source(base)
    from transformers import AutoConfig

    with told_plainly(base):
        dtype = getattr(AutoConfig.from_pretrained(**found), "dtype", None)
    return str(dtype or "bfloat16").removeprefix("torch.")
