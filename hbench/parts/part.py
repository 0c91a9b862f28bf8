"""Parts: components named in YAML by `kind`. The validated block is the component."""

import hashlib
import importlib
import importlib.util
import os
import sys
from functools import cache, lru_cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from hbench.parts.given import check_given

PACKAGE = Path(__file__).parent
SORTS = ("families", "domains", "calls", "edits", "rewards", "selections", "races", "filters", "detectors")


class Part(BaseModel):
    """A frozen block of YAML with its behaviour. Subclasses add `kind: Literal["its_file_name"]` and fields.

    version: raised when the part's behaviour changes; it is hashed with the fields.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    version: ClassVar[int] = 1

    def to_json(self) -> dict[str, Any]:
        """Everything of this part that can change a result: fields, version, and `versions()` of its libraries."""
        fields = self.model_dump(mode="json")
        code = code_digest(type(self))
        libraries = dict(self.versions()) if hasattr(self, "versions") else {}
        also = {"libraries": libraries, "_code": code}
        return {**fields, "version": self.version, **{name: value for name, value in also.items() if value}}

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process finds it by its kind: the file of a part of one's own is no module that it could import."""
        return build, (_sort(type(self)), self.model_dump(mode="json"))


@cache
def code_digest(part: type[Part]) -> str:
    """16 hex digits of the file of a part that does not ship with hbench: editing it is a change. "" for our own parts,
    whose `version` is raised instead."""
    file = getattr(sys.modules.get(part.__module__), "__file__", None)
    if part.__module__.startswith("hbench.") or file is None:
        return ""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


def parts_folders(sort: str) -> list[Path]:
    """Where parts of `sort` (families, edits, rewards, selections …) are looked up, first match wins.

    The working folder's parts/, the folders in HBENCH_PARTS (set by `--parts DIR`), then the package.
    """
    extra = [Path(p) for p in os.environ.get("HBENCH_PARTS", "").split(os.pathsep) if p]
    return [root / sort for root in (Path.cwd() / "parts", *extra, PACKAGE) if (root / sort).is_dir()]


def kinds(sort: str) -> dict[str, Path | Any]:
    """kind -> file, or an entry point of group `hbench.parts` named `<sort>.<kind>`; sorted by kind."""
    found: dict[str, Any] = {e.name.split(".", 1)[1]: e for e in _entries() if e.name.startswith(sort + ".")}
    for folder in reversed(parts_folders(sort)):
        found |= _files(folder)
    return dict(sorted(found.items()))


def has(sort: str, kind: str) -> bool:
    """Whether `kind` is one of `kinds(sort)`."""
    return _file(sort, kind) is not None or kind in kinds(sort)


def _file(sort: str, kind: str) -> Path | None:
    """Where `kind` is unless an entry point says so: who needs none is spared the search for them."""
    return next((files[kind] for files in map(_files, parts_folders(sort)) if kind in files), None)


def _files(folder: Path) -> dict[str, Path]:
    """kind -> file."""
    return _seen(folder, folder.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _seen(folder: Path, changed_at: int) -> dict[str, Path]:
    # A sweep of hundreds of points asks thousands of times; changed_at: the folder's, so what is new is seen.
    return {file.stem: file for file in folder.glob("*.py") if not file.stem.startswith("_")}


@cache
def _entries() -> tuple[Any, ...]:
    # Looking through every installed package takes 15 ms, and cannot change while we run.
    return tuple(entry_points(group="hbench.parts"))


@cache
def find(sort: str, kind: str) -> type[Part]:
    """The class behind `kind`: file kind.py, class Kind in CamelCase. Raises KeyError for an unknown kind.

    What one that is not hbench's gives is checked: see given.py.
    """
    where = _file(sort, kind) or kinds(sort)[kind]
    part = _in_file(sort, kind, where) if isinstance(where, Path) else where.load()
    check_given(sort, part)
    return part


def _in_file(sort: str, kind: str, file: Path) -> type[Part]:
    return getattr(_import_file(sort, kind, file), "".join(word.title() for word in kind.split("_")))


def _import_file(sort: str, kind: str, file: Path) -> Any:
    if file.parent.parent == PACKAGE:
        return importlib.import_module(f"hbench.parts.{sort}.{kind}")
    name = f"hbench_parts_{sort}_{kind}"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def loadable(sort: str) -> dict[str, type[Part]]:
    """kind -> class of every kind of `sort`; one that cannot be imported is left out, so that editors and help go on working."""
    found = {}
    for kind in kinds(sort):
        try:
            found[kind] = find(sort, kind)
        except Exception:  # whatever a part's own code raises
            continue
    return found


@cache
def _sort(part: type[Part]) -> str:
    kind = part.model_fields["kind"].annotation.__args__[0]
    return next(sort for sort in SORTS if kind in kinds(sort) and find(sort, kind) is part)


def build(sort: str, block: dict[str, Any]) -> Part:
    """The part that `block` (as written by `to_json`) describes."""
    fields = {k: v for k, v in block.items() if k not in ("version", "libraries", "_code")}
    return find(sort, block["kind"]).model_validate(fields)
