"""What this machine's jail is, why, what it promises, and what it does not protect from. For `hbench doctor`."""

import asyncio
import platform
import threading
from dataclasses import dataclass, field, replace

from hbench.core.failure import HbenchError
from hbench.engines.jail import cgroup
from hbench.engines.jail.inside import landlock, seccomp
from hbench.engines.jail.jails import chosen
from hbench.engines.jail.pool import start_zygote
from hbench.engines.jail.zygote import Zygote

_ALL = (
    "a fresh process a question, with an empty environment and no descriptor but its own pipe",
    "own CPU time, wall time, memory, output and messages are limited, and counted outside",
    "no gold answer, key or results folder is in the processes that run a harness",
)
_CONFINED = (
    "no network: sockets cannot be made",
    "no second process or thread, no signal to, no tracing of and no memory of any other process",
    "no file can be written",
)
_TREE = ("python() has a process tree, a folder in memory and a process limit of its own for each call",)
_SUM = ("memory of one python() call in all: each of its at most 32 processes has the limit for itself",)
_NO_TREE = ("python() computes and prints only: here it can neither write files nor start processes",)
_WORKSPACE = (
    "workspace: a session of its own for each rollout, whose commands cannot reach it, another session or the driver",
    "workspace: no network, no socket; Python imports what its domain names and nothing else",
)
_WORKSPACE_APART = (
    "workspace: nothing is seen but its own folders (in memory, of a set size), a bank to read, Python, system programs",
    "workspace: all that a command started ends with it; 64 processes, own memory, files and time are limited",
)
_WORKSPACE_ON_DISK = (
    "workspace: commands write in their own folders alone, and a process group they cannot leave ends with the command",
)
_DISK_GAPS = (
    "workspace: its folders are on disk, and are not called /workspace, /bank and /tmp, so that paths in outputs differ",
    "workspace: what it fills is looked at once a second; memory is limited for each process, size for each file",
    "workspace: processes are not counted, so a command can slow the machine down until its time limit",
)
_WORKSPACE_SUM = (
    "workspace: memory of one command in all: each of its at most 64 processes has the limit for itself",
    "workspace: memory that its folders take: two may hold disk_mb each, in every rollout that is under way",
)
_LANDLOCK = (  # since which version, and what it holds by itself; before, refused system calls hold it
    (1, "reading and writing of files"),
    (3, "cutting files short"),
    (4, "TCP"),
    (5, "orders to devices"),
    (6, "signals and abstract sockets"),
)
_NO_PROC = "workspace: commands have no /proc here: <(...), /dev/stdin and ps do not work in them"
_REFUSED = ("everything: model-written code is refused",)
_NEVER = (
    "faults of the kernel itself: use a virtual machine where the code may be hostile beyond a model's",
    "an answer that takes over its own grading process (some libraries evaluate it) sets its own grade, no other",
    "timing: questions on one machine can tell that it is busy",
)


@dataclass(frozen=True)
class JailReport:
    """kind: namespaces, landlock, none, or "" when no jail can be had. why: how it was chosen, or why there is none."""

    kind: str
    why: str
    promises: tuple[str, ...] = ()
    not_protected: tuple[str, ...] = ()
    advice: str = ""
    details: dict = field(default_factory=dict)

    @property
    def ready(self) -> bool:
        """Whether model-written code can be run, confined or (when asked for) not."""
        return bool(self.kind)

    def text(self) -> str:
        """For people: the kind and why on the first line, then what holds and what does not, a line each."""
        lines = [f"{self.kind or 'none can be had'}: {self.why}"]
        lines += [f"+ {promise}" for promise in self.promises]
        return "\n".join([*lines, *(f"- does not protect from: {gap}" for gap in self.not_protected)])


def describe(sandbox: str = "auto") -> JailReport:
    """Starts one zygote of each sort to see. Never raises. Works inside and outside of a running asyncio loop."""
    found: list[JailReport] = []

    def look() -> None:
        try:
            found.append(asyncio.run(_look(chosen(sandbox))))
        except Exception as trouble:  # a report that cannot be made is itself the report
            found.append(JailReport("", f"{type(trouble).__name__}: {trouble}", (), _REFUSED))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return found[0]


async def _look(sandbox: str) -> JailReport:
    started: list[Zygote] = []
    try:
        for purpose in ("harness", "python"):
            started.append(await start_zygote(sandbox, purpose))
        report = _report(*started)
        promises, gaps = (a + b for a, b in zip(await _workspace(sandbox, started), _together(), strict=True))
        return replace(report, promises=(*report.promises, *promises), not_protected=(*report.not_protected, *gaps))
    except HbenchError as none:
        return JailReport("", str(none), (), _REFUSED, "install bubblewrap")
    finally:
        for zygote in started:
            zygote.close()


async def _workspace(sandbox: str, started: list[Zygote]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a workspace promises here, and what not. Adds its zygote to `started`."""
    try:
        zygote = await start_zygote(sandbox, "workspace")
    except HbenchError as none:
        return (), (f"workspace: none can be had, so no domain can be run: {none}",)
    started.append(zygote)
    if zygote.recipe.sandbox == "none":
        return (), ("workspace: a process that leaves its group goes on when its command ends",)
    if zygote.recipe.sandbox == "namespaces":
        return (*_WORKSPACE, *_WORKSPACE_APART), (*_WORKSPACE_SUM, *(() if zygote.promises["proc"] else (_NO_PROC,)))
    refused = f"workspace: commands may not {', '.join(zygote.promises['refused'])}: some programs behave otherwise here"
    return (*_WORKSPACE, *_WORKSPACE_ON_DISK), (*_DISK_GAPS, refused)


def _together() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is promised of all jails of a driver together, and what not."""
    group = cgroup.own()
    if group is None:
        return (), ("memory of all jails together: no control group can be made here",)
    most = f"at most {group.memory_mb} MB and {cgroup.MOST_PROCESSES} processes (control group, version {group.version})"
    return (f"all jails together: {most}",), ()


def _report(harness: Zygote, python: Zygote) -> JailReport:
    recipe = harness.recipe
    details = {
        "machine": platform.machine(),
        "kernel": platform.release(),
        "seccomp": seccomp.supported(),
        "landlock_version": landlock.version(),
        "bubblewrap": recipe.bwrap,
        "user": harness.promises["user"],
    }
    if recipe.sandbox == "none":
        gaps = ("everything: the code can do what you can",)
        return JailReport("none", "asked for: no confinement", _ALL[:2], gaps, "", details)
    tree = _TREE if python.promises["own_tree"] else _NO_TREE
    if recipe.sandbox == "namespaces":
        whose = "in a user namespace" if recipe.own_users else "by root, who gives root up"
        unseen = ("no file is visible but Python's own and the C libraries'",)
        why = f"bubblewrap works here ({whose})"
        return JailReport("namespaces", why, (*_ALL, *_CONFINED, *unseen, *tree), (*_NEVER, *_SUM), "", details)
    readable = ("no file can be opened but Python's own and the C libraries'",)
    seen = ("whether a file exists, its size and its times can be asked for any path",)
    root = () if harness.promises["user"] else ("the code's user is root, without any right of root",)
    promises, gaps = (*_ALL, *_CONFINED, *readable, *tree, _by_landlock(landlock.version())), (*_NEVER, *seen, *root)
    advice = "install bubblewrap or allow user namespaces for the stronger jail"
    return JailReport("landlock", "asked for, or no namespaces here", promises, gaps, advice, details)


def _by_landlock(version: int) -> str:
    """What holds by Landlock at this version of it, and what by the list of system calls."""
    held, rest = (", ".join(what for since, what in _LANDLOCK if (since <= version) is holds) for holds in (True, False))
    return f"Landlock version {version} holds: {held}" + (f"; refused system calls hold: {rest}" if rest else "")
