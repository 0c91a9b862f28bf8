"""An exhibit's rows from a published bundle, in place of the results folder: which one, and which specs it holds."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from hbench.core.failure import HbenchError
from hbench.core.folder_digest import file_digest
from hbench.core.published import BUNDLE, PREFIX, bundle_names, find_bundle
from hbench.exhibits.sources import Source, plain_name
from hbench.store.bundle import read_manifest


def bundle_folder(name: str, results: Path | None = None) -> Path:
    """Where the bundle `name` lies: under `results`, ./results, or what ships. Raises HbenchError when nowhere."""
    found = find_bundle(name, results)
    if found is None:
        there, where = ", ".join(bundle_names(results)) or "none", f"{results or 'results'}/published"
        raise HbenchError(f"no bundle {name.removeprefix(PREFIX)!r} under {where} (there are: {there})")
    return found


def asked_bundle(names: Sequence[str], bundle: str | None, results: Path) -> Path | None:
    """The bundle that an exhibit reads: `bundle`, else the one that `names` speak of as published/NAME; None: no bundle.

    Raises HbenchError where names speak of several, or of one beside specs: rows come from one place.
    """
    spoken = {name.split()[0] if name.startswith(PREFIX) else "" for name in names}
    if bundle is None and len(spoken) > 1:
        raise HbenchError(f"from: {', '.join(names)}: rows come from one bundle, or from the results folder, not from both")
    asked = bundle or next(iter(spoken), "")
    return bundle_folder(asked, results) if asked else None


def absent_bundles(names: Sequence[str], results: Path) -> list[str]:
    """The bundles that `names` speak of as published/NAME and that lie nowhere."""
    spoken = dict.fromkeys(name.split()[0] for name in names if name.startswith(PREFIX))
    return [name for name in spoken if find_bundle(name, results) is None]


def bundled_spec(name: str) -> str:
    """The spec in `published/NAME SPEC`; "" for all of a bundle's. A name without a bundle is a spec itself."""
    return name.partition(" ")[2].strip() if name.startswith(PREFIX) else name


def bundle_sources(folder: Path, names: Sequence[str]) -> list[Source]:
    """The specs behind `names` as the bundle knows them, however they read today; for published/NAME all of them.

    Raises HbenchError when it holds none of them.
    """
    held = read_manifest(folder)["specs"]
    wanted = [spec for name in names for spec in _specs(name, held) if spec in held]
    if not wanted:
        raise HbenchError(f"the bundle {folder} holds no {', '.join(names)}; it holds {', '.join(held)}")
    return [Source(name, held[name]["points"], tuple(held[name]["arms"])) for name in dict.fromkeys(wanted)]


def told_of(folder: Path, names: Sequence[str]) -> str:
    """One sentence of a caption: which bundle, what it leaves out, which of the specs it lacks."""
    manifest = read_manifest(folder)
    lacking = [spec for name in names for spec in _specs(name, manifest["specs"]) if spec not in manifest["specs"]]
    told = f"From the bundle {manifest['name']} of {manifest['date']} ({file_digest(folder / BUNDLE)[:8]})"
    told += f", without {', '.join(manifest['without'])}" if manifest.get("without") else ""
    return told + (f"; it lacks {', '.join(lacking)}." if lacking else ".")


def _specs(name: str, held: Iterable[str]) -> list[str]:
    """What one name under `from` means: a spec, `published/NAME` for all of a bundle's, `published/NAME SPEC` for one."""
    if not name.startswith(PREFIX):
        return [plain_name(name)]
    _, *spec = shlex.split(name)
    return [plain_name(shlex.join(spec))] if spec else list(held)
