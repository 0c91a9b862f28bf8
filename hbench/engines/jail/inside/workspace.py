"""One workspace of a rollout: the whole life of a child of the workspace zygote."""

import os

from . import ground, harness, kernel, landlock, wire
from .session import CHANNEL, Session
from .tree import wait_in_parent

OWN_TREE = True
SHELL = True
fork = os.fork


def preload() -> None:
    harness.library()
    os.umask(0o022)


def prepare(_: int) -> None:
    """Nothing: all comes with the session."""


def settle(setting: dict, own_tree: bool) -> ground.Ground:
    """Where this zygote's sessions have their folders. Raises OSError where none can be."""
    if own_tree:
        return ground.in_memory(setting)
    if setting["sandbox"] == "namespaces":
        raise OSError("no namespaces within namespaces can be made here")
    if setting["sandbox"] == "landlock" and landlock.version() < 3:
        raise OSError("a workspace needs version 3 of Landlock (Linux 6.2)")
    return ground.on_disk(setting)


def run(order: dict, jail) -> None:
    """Serves the driver until it goes. Never returns. In namespaces that is process 1 of a tree of its own."""
    kernel.die_with_parent()
    place = jail.ground.place(order["job"])
    try:
        if jail.own_tree:
            kernel.leave("mount", "pid", "ipc")
        place.make(order["disk_mb"])
        if jail.own_tree:
            wait_in_parent()
            kernel.die_with_parent()
        Session(order, jail, place).serve()
    except EOFError:
        os._exit(0)
    except BaseException as trouble:
        wire.send(CHANNEL, {"fatal": f"{type(trouble).__name__}: {trouble}"[:2000]})
        os._exit(71)
