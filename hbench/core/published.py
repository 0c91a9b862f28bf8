"""Published bundles: how the folder of one is laid out, and where one is found."""

from pathlib import Path

from hbench.core.places import published_roots

BUNDLE = "bundle.json"  # written last: a folder that has it is a whole bundle
ROWS, SPECS, ADAPTERS = "rows", "specs", "adapters"  # its folders: Parquet files, resolved specs, trained models
CARD = "checkpoint.json"  # beside a trained model: its digest, base, recipe and lineage
PREFIX = "published/"  # how specs and exhibits name a bundle: published/NAME


def find_bundle(name: str, results: Path | None = None) -> Path | None:
    """The folder of the bundle `name` (`published/` before it or not), or None."""
    short = name.removeprefix(PREFIX).strip("/")
    folders = [root / short for root in published_roots(results)] if short else []
    return next((folder for folder in folders if (folder / BUNDLE).is_file()), None)


def bundle_names(results: Path | None = None) -> list[str]:
    """The bundles there are, sorted."""
    found = (file for root in published_roots(results) for file in root.glob(f"*/{BUNDLE}"))
    return sorted({file.parent.name for file in found})
