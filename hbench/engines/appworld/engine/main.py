"""A zygote that has the engine loaded, confined like those of the jail; its children are worlds, evaluations and builders."""

import json
import os
import sys

from . import child

# Beyond these, what a shell's commands may do: the engine needs threads, and locks to read its databases.
REFUSED = "fork vfork execve mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 symlink symlinkat link linkat"


def main() -> None:
    """What to be stands on the command line: see hbench/engines/appworld/zygotes.py."""
    from inside import confine, seccomp, syscalls, zygote

    setting = json.loads(sys.argv[1])
    sys.argv[:] = [""]
    sys.path[:] = setting["path"]
    for name in set(os.environ) - set(setting["environment"]):
        del os.environ[name]  # what bubblewrap and Python add
    jail = confine.zygote(setting, child)
    refused = [*REFUSED.split(), *syscalls.GROUPS, *syscalls.SIGNALS, *syscalls.FILE_MODES]
    jail.filter = seccomp.build(True, True, refused)
    zygote.Zygote(child, jail).serve()
