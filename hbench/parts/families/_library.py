"""reasoning-gym without its weight: one family's module is imported, not all 106 (2 s and matplotlib with them)."""

import importlib
import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from hbench.core.digest import Json

# Families that prepare their whole pool when they are made get a small one; for the rest the size is only a bound.
POOL_SIZE = 16_384
SMALL_POOLS = {"acre": 4_096}

_NAME = re.compile(r'^DATASET_NAME\s*=\s*"(\w+)"|register_dataset\(\s*"(\w+)"', re.MULTILINE)


@cache
def modules() -> dict[str, str]:
    """Family name -> dotted module, read from the library's source without importing it; sorted by name."""
    root = _root()
    found = {}
    for file in root.glob("**/*.py"):
        if {"contrib", "rearc_utils"} & set(file.parts):
            continue
        text = file.read_text(encoding="utf-8")
        name = _NAME.search(text)
        if name and "register_dataset(" in text:
            found[name[1] or name[2]] = ".".join(file.relative_to(root.parent).with_suffix("").parts)
    return dict(sorted(found.items()))


def pool_size(name: str) -> int:
    """How many questions one pool of this family holds at most."""
    return SMALL_POOLS.get(name, POOL_SIZE)


def config(name: str, settings: Json, **more: Any) -> Any:
    """The library's configuration object. Raises what the library raises for settings it does not take."""
    _import_family(name)
    from reasoning_gym.factory import DATASETS

    fields = dict(settings)
    if name == "composite":
        fields = _with_parts(fields)
    made = DATASETS[name][1](**fields, **more)
    if hasattr(made, "validate"):
        made.validate()
    return made


def dataset(name: str, settings: Json, seed: int, size: int) -> Any:
    """The library's dataset: `[i]` gives an entry, `score_answer(answer, entry)` a number."""
    made = config(name, settings, seed=seed, size=size)
    from reasoning_gym.factory import DATASETS

    return DATASETS[name][0](config=made)


def _with_parts(fields: Json) -> Json:
    """`composite` mixes other families: their modules are imported, their blocks made into the library's records."""
    for block in fields.get("datasets", []):
        _import_family(block["name"])
    from reasoning_gym.composite import DatasetSpec

    specs = [DatasetSpec(b["name"], b.get("weight", 1.0), b.get("config", {})) for b in fields.get("datasets", [])]
    return {**fields, "datasets": specs}


def _import_family(name: str) -> None:
    """Imports the family's own module. The packages around it stand in empty while it loads and are then forgotten,
    so a later `import reasoning_gym` still gives the whole library."""
    module = modules()[name]
    if module in sys.modules:
        return
    packages = [".".join(module.split(".")[:n]) for n in range(1, module.count(".") + 1)]
    stand_ins = [_stand_in(package) for package in packages if package not in sys.modules]
    try:
        importlib.import_module("reasoning_gym.coaching")  # first, as in the library: else imports go in a circle
        importlib.import_module(module)
    finally:
        for package in stand_ins:
            sys.modules.pop(package, None)


def _stand_in(package: str) -> str:
    folder = _root().parent.joinpath(*package.split("."))
    spec = importlib.util.spec_from_file_location(
        package, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    sys.modules[package] = importlib.util.module_from_spec(spec)
    return package


def _root() -> Path:
    spec = importlib.util.find_spec("reasoning_gym")
    return Path(spec.submodule_search_locations[0])
