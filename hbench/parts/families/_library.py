"""reasoning-gym without its weight: one family's module is imported, not all 106 (2 s and matplotlib with them)."""

import importlib
import importlib.util
import re
import sys
import types
from functools import cache
from pathlib import Path
from typing import Any

from hbench.core.digest import Json

# Families that prepare their whole pool when they are made get a small one; for the rest the size is only a bound.
POOL_SIZE = 16_384
SMALL_POOLS = {"acre": 4_096}

# cellpylib, below two families, imports these only to draw pictures: 0.7 s, and in a jail they find no place to write.
_PLOTTING = tuple(
    "matplotlib matplotlib.pyplot matplotlib.animation matplotlib.collections mpl_toolkits mpl_toolkits.mplot3d".split()
)

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
    """Imports the family's own module, without the rest of the library and without matplotlib."""
    module = modules()[name]
    if module in sys.modules:
        return
    for package in _packages(module):
        if package not in sys.modules:
            sys.modules[package] = _unrun(package)
    absent = [name for name in _PLOTTING if name not in sys.modules] if "matplotlib" not in sys.modules else []
    sys.modules.update({name: _Nothing(name) for name in absent})
    try:
        importlib.import_module("reasoning_gym.coaching")  # first, as in the library: else imports go in a circle
        importlib.import_module(module)
    finally:
        for plotting in absent:  # whoever wants to plot later in this process gets the real one (cellpylib cannot)
            del sys.modules[plotting]


class _Package(types.ModuleType):
    """A package whose own code, which imports all families, has not run: it gives its modules one by one.

    It runs as soon as it is asked for anything else, so `import reasoning_gym` still gives the whole library.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in ("__all__", "__version__"):
            raise AttributeError(name)
        inner = f"{self.__name__}.{name}"
        if importlib.util.find_spec(inner):
            return importlib.import_module(inner)
        self._run()
        return getattr(self, name)

    def _run(self) -> None:
        self.__class__ = types.ModuleType
        for name, module in list(sys.modules.items()):
            if isinstance(module, _Package) and name.startswith(self.__name__ + "."):
                module._run()
        self.__spec__.loader.exec_module(self)


class _Nothing(types.ModuleType):
    """A module that has every name, and nothing behind any."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


def _packages(module: str) -> list[str]:
    """`a.b.c` -> a, a.b."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _unrun(package: str) -> _Package:
    folder = _root().parent.joinpath(*package.split("."))
    spec = importlib.util.spec_from_file_location(
        package, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    made = _Package(package)
    made.__spec__, made.__path__, made.__file__, made.__package__ = spec, [str(folder)], spec.origin, package
    return made


@cache
def _root() -> Path:
    spec = importlib.util.find_spec("reasoning_gym")
    return Path(spec.submodule_search_locations[0])
