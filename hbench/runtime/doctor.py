"""What this machine offers, and what to do about what is missing: `hbench doctor`."""

import importlib.util
import os
import shutil
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

EMBEDDED = "smollm2-135m-instruct"
EXTRAS = {
    "local": ("torch", "transformers", "gguf"),
    "train": ("trl", "peft", "datasets"),
    "serve": ("vllm",),
    "benchmark": ("lm_eval",),
    "retrieval": ("bm25s",),
    "sheets": ("openpyxl",),
    "chemistry": ("rdkit",),
    "cluster": ("ray",),
    "view": ("starlette", "uvicorn"),
}


@dataclass(frozen=True)
class Finding:
    """name, what was found, and what to do about it ("" when nothing need be done)."""

    name: str
    found: str
    advice: str = ""


@dataclass(frozen=True)
class Examination:
    """ready: model-written code can be run in a jail here."""

    findings: tuple[Finding, ...]
    ready: bool

    def text(self) -> str:
        width = max(len(f.name) for f in self.findings)
        lines = []
        for f in self.findings:
            first, *more = f.found.splitlines() or [""]
            lines += [f"{f.name:<{width}}  {first}", *(f"{'':<{width}}  {line}" for line in more)]
            lines += [f"{'':<{width}}  -> {f.advice}"] if f.advice else []
        return "\n".join(lines)


def examine(results: Path) -> Examination:
    """Looks at the machine; starts nothing but the jail's own probe, and never raises."""
    from hbench.engines.jail import describe

    jail = describe()
    findings = (
        Finding("jail", jail.text(), jail.advice),
        Finding("cores", str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())),
        Finding("memory", _memory()),
        _gpu(),
        _embedded(),
        _libreoffice(),
        _appworld(),
        *(_extra(name, modules) for name, modules in EXTRAS.items()),
        _results(results),
    )
    return Examination(findings, jail.ready)


def _memory() -> str:
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    free = os.sysconf("SC_AVPHYS_PAGES")
    return f"{pages * size / 2**30:.1f} GiB, {free * size / 2**30:.1f} free"


def _gpu() -> Finding:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return Finding("GPU", "none seen", "nothing to do: the embedded model runs on the CPU")
    import subprocess

    asked = [tool, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.SubprocessError) as bad:
        return Finding("GPU", f"nvidia-smi does not answer ({bad})", "look at the driver")
    return Finding("GPU", done.stdout.strip() or "none seen")


def _embedded() -> Finding:
    from hbench.core.failure import HbenchError
    from hbench.engines.embedded import packed_file

    try:
        return Finding("embedded model", f"SmolLM2-135M-Instruct, {packed_file(EMBEDDED).stat().st_size / 2**20:.0f} MiB")
    except HbenchError as missing:
        return Finding("embedded model", "missing", str(missing))


def _libreoffice() -> Finding:
    from hbench.core import libreoffice

    found = libreoffice.version()
    advice = f"only to compute formulas in spreadsheets: {libreoffice.HOW_TO_GET}" if found == "absent" else ""
    return Finding("LibreOffice", found, advice)


def _appworld() -> Finding:
    from hbench.engines.appworld.folders import root_of
    from hbench.engines.appworld.installation import version

    found, root = version(), root_of(None)
    if found == "absent":
        return Finding("AppWorld", found, "only for the domain appworld: make appworld")
    tasks = f"published tasks in {root}" if root else "home-made tasks alone"
    download = "for published tasks: .venv-appworld/bin/appworld download data --root FOLDER, then APPWORLD_ROOT=FOLDER"
    return Finding("AppWorld", f"{found}, {tasks}", "" if root else download)


def _extra(name: str, modules: tuple[str, ...]) -> Finding:
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    if missing:
        return Finding(f"extra {name}", f"missing: {', '.join(missing)}", f"pip install 'hbench[{name}]'")
    return Finding(f"extra {name}", ", ".join(f"{m} {_version(m)}" for m in modules))


def _version(module: str) -> str:
    try:
        return version(module.replace("_", "-"))
    except PackageNotFoundError:
        return "?"


def _results(folder: Path) -> Finding:
    there = folder if folder.exists() else folder.absolute().parent
    if not os.access(there, os.W_OK):
        return Finding("results folder", f"{folder} cannot be written", "give another with --results DIR")
    return Finding("results folder", f"{folder}, {shutil.disk_usage(there).free / 2**30:.0f} GiB free")
