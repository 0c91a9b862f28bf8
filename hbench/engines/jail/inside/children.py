"""What a zygote's children do, by its purpose. Only that one's module is loaded: what a zygote holds, every fork pays for."""

import importlib

_MODULES = {"harness": "harness", "python": "program", "grader": "grade", "workspace": "workspace"}


def child_of(purpose: str):
    """The module with preload, fork, prepare and run, OWN_TREE and SHELL (then it has settle too)."""
    return importlib.import_module(f"{__package__}.{_MODULES[purpose]}")
