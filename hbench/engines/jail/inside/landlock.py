"""Landlock: this process and all it forks may read beneath a few folders, and write nowhere or beneath a few others."""

import ctypes
import os
import struct

from .kernel import LIBC, check

_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on every architecture
_RUN, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
_DEVICES = (1 << 6) | (1 << 11) | (1 << 15)  # nobody makes a device, or gives one orders
_OF_FOLDERS = (1 << 14) - (1 << 3)  # rights that a rule on a single file cannot give
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}  # how many rights each version of the interface knows; from 5 on: 16


def version() -> int:
    """The kernel's Landlock interface version; 0 when there is none."""
    return max(0, LIBC.syscall(_CREATE, None, ctypes.c_size_t(0), 1))


def restrict(readable: list[str], writable: list[str] = (), listed: list[str] = (), run: bool = False) -> None:
    """Leaves no right on files but reading beneath `readable`, all beneath `writable`, and names alone beneath `listed`.

    run: what is readable can be run too. No TCP either, and from version 6 no signals out of the jail.
    """
    known = version()
    if not known:
        raise OSError("this kernel has no Landlock")
    rights = (1 << _FILE_RIGHTS.get(known, 16)) - 1
    attributes = struct.pack("Q", rights)
    if known >= 4:
        attributes += struct.pack("Q", 3)  # bind and connect of TCP
    if known >= 6:
        attributes += struct.pack("Q", 3)  # abstract sockets and signals
    rules = check(LIBC.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0), "landlock_create_ruleset")
    for path in readable:
        _allow(rules, path, _READ_FILE | _READ_FOLDER | (_RUN if run else 0))
    for path in listed:
        _allow(rules, path, _READ_FOLDER)
    for path in writable:
        _allow(rules, path, rights & ~_DEVICES)
    check(LIBC.syscall(_RESTRICT, rules, 0), "landlock_restrict_self")
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not os.path.isdir(path):
        rights &= ~_OF_FOLDERS
    check(LIBC.syscall(_ADD, rules, 1, struct.pack("=Qi", rights, place), 0), f"landlock_add_rule {path}")
    os.close(place)
