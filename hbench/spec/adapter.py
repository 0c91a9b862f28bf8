"""A LoRA adapter that a model block names: a folder that `hbench export` or `hbench model export` wrote."""

import json
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticKnownError

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.folder_digest import folder_digest
from hbench.core.published import ADAPTERS, CARD, PREFIX, bundle_names, find_bundle, without_places
from hbench.spec.block import wrong
from hbench.spec.files import NamedFile, remembered
from hbench.spec.problems import did_you_mean

CONFIG, WEIGHTS, PICKLED = "adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"  # as peft calls them
_WRITTEN_BY = "`hbench model export` writes such a folder"


class AdapterFolder(NamedFile):
    """digest: of all its files, in hexadecimal. base: identity of the weights it was trained on; None when not known."""

    path: Path
    base: Json = None

    def fits(self, weights: str, revision: str | None) -> bool:
        """Whether it may lie on these weights: the ones it was trained on, by name or by commit, as far as is known."""
        base = self.base or {}
        known, commit = base.get("weights"), base.get("revision")
        if commit and revision:
            return commit == revision
        return known is None or known in (weights, without_places(weights))  # a bundle tells no folder


@remembered
def read_adapter(name: str) -> AdapterFolder:
    """The folder `published/<bundle>/<adapter>`, or the one at the path `name`."""
    path = _published(name) if name.startswith(PREFIX) else Path(name).expanduser()
    _check_files(name, path)
    card, digest = _card(path), folder_digest(path)
    if card.get("sha256", digest) != digest:
        hint = "a file was changed, or not fetched whole"
        raise wrong(f"{name} is not the adapter that its {CARD} names", hint)
    return AdapterFolder(name=name, digest=digest, path=path.resolve(), base=card.get("base"))


def _published(name: str) -> Path:
    bundle, _, adapter = name.removeprefix(PREFIX).partition("/")
    folder = find_bundle(bundle)
    if folder is None:
        known = bundle_names()
        there = f"there are: {', '.join(known)}" if known else "there is none under results/published"
        raise wrong(f"no bundle '{bundle}'", did_you_mean(bundle, known) or there)
    inside = sorted(each.name for each in (folder / ADAPTERS).glob("*") if each.is_dir())
    if adapter not in inside:
        hint = did_you_mean(adapter, inside) or (f"it holds: {', '.join(inside)}" if inside else "it holds none")
        raise wrong(f"bundle '{bundle}' holds no adapter '{adapter}'", hint)
    return folder / ADAPTERS / adapter


def _check_files(name: str, path: Path) -> None:
    if not path.is_dir():
        hint = f"name {PREFIX}BUNDLE/ADAPTER, or a folder; {_WRITTEN_BY}"
        raise wrong(f"no folder '{name}'", hint)
    if not (path / CONFIG).is_file() and (path / "config.json").is_file():
        raise wrong(f"{name} holds whole weights, no adapter", "name the folder under weights, its digest as revision")
    if (path / PICKLED).is_file():
        raise wrong(f"{name} holds {PICKLED}, which may run code when it is loaded", f"weights come as {WEIGHTS} alone")
    for wanted in (CONFIG, WEIGHTS):
        if not (path / wanted).is_file():
            raise wrong(f"{name} holds no {wanted}", _WRITTEN_BY)


def _card(path: Path) -> Json:
    """What is said beside the adapter; {} where nothing is, as with one that was trained elsewhere."""
    try:
        card = json.loads((path / CARD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise wrong(f"{path / CARD} cannot be read: {error}") from None
    return card if isinstance(card, dict) else {}


def _from_name(value: Any) -> Any:
    if isinstance(value, AdapterFolder):
        return value
    if not isinstance(value, str):
        raise PydanticKnownError("string_type")
    try:
        return read_adapter(value)
    except (OSError, HbenchError) as error:
        raise wrong(f"{value} cannot be read: {error}") from None


AdapterName = Annotated[AdapterFolder, BeforeValidator(_from_name), WithJsonSchema({"type": "string"})]
