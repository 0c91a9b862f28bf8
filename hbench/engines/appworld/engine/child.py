"""One child of the engine's zygote: what it is for stands in its order."""

import gc
import os
import traceback

OWN_TREE = False
SHELL = True  # confine.py: a filter that lets threads run; the programs of a shell are not there, and may not be run
CHANNEL = 3
OPEN_FILES = 256
_loaded: list[str] = []  # once the engine is loaded: why it could not be, "" where it could


def preload() -> None:
    """Nothing: the engine takes long to load, so that is done when the first child is wanted, and the driver waits there."""


def prepare(_: int) -> None:
    """Nothing: all comes with the order."""


def settle(setting: dict, own_tree: bool):
    """No folders: a child writes nothing."""
    from inside import ground

    return ground.Ground("", "", False)


def fork() -> int:
    if not _loaded:
        try:
            _load()
            _loaded.append("")
        except BaseException as trouble:  # told by every child, since nobody listens to the zygote
            _loaded.append(_told(trouble))
        gc.collect()
        gc.freeze()
    return os.fork()


def _load() -> None:
    """All that every child needs, so that a world is there in a fraction of a second."""
    import ctypes.util

    ctypes.util.find_library = lambda name: None  # a library asks, to give threads names, and would run a compiler for it
    import appworld.environment
    from appworld.apps import build_main_app, get_all_apps
    from appworld.requester import _get_api_name_to_doc
    from IPython.terminal.embed import InteractiveShellEmbed
    from traitlets.config.loader import Config

    build_main_app(get_all_apps())
    for app in get_all_apps():
        _get_api_name_to_doc(app, include_private_apis=True)
    setting = Config()
    setting.HistoryManager.enabled = False  # a thread, and a file
    shell = InteractiveShellEmbed(config=setting, ipython_dir=os.environ["IPYTHONDIR"])  # else it looks for one to write to
    appworld.environment.InteractiveShellEmbed = lambda config: shell  # one world a process: one shell is enough


def run(order: dict, jail) -> None:
    """Does what `order` is for, and what the driver asks on the channel. Never returns."""
    from inside import wire

    jail.limit(order["memory_mb"], order["cpu_s"], OPEN_FILES)
    jail.close()
    try:
        if _loaded[0]:
            raise RuntimeError(f"the engine cannot be loaded: {_loaded[0]}")
        _work(order["purpose"])(CHANNEL, order)
    except EOFError:
        os._exit(0)
    except BaseException as trouble:
        wire.send(CHANNEL, {"trouble": _told(trouble)})
    os._exit(0)


def _told(trouble: BaseException) -> str:
    """What went wrong, and where."""
    last = traceback.extract_tb(trouble.__traceback__)[-1]
    return f"{type(trouble).__name__}: {trouble} ({last.filename}, line {last.lineno})"[:2000]


def _work(purpose: str):
    from . import build, evaluate, play

    return {"play": play.play, "evaluate": evaluate.evaluate, "build": build.build}[purpose]
