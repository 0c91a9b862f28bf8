"""Jobs of the domain `files` that move, rename, copy and delete: often what to do stands in a file that must be read first."""

from hbench.parts.domains._files_dice import Dice, Drawn, Job, text


def _moved(files: dict[str, str], paths: list[str], folder: str) -> dict[str, str | None]:
    return {**dict.fromkeys(paths), **{f"{folder}/{path}": files[path] for path in paths}}


def _by_ending(dice: Dice) -> Drawn:
    ending, *rest = dice.random.sample(("log", "csv", "txt", "md"), 3)
    folder, count = dice.word(), dice.between(2, 3)
    wanted = dice.others(*[ending] * count)
    files = {**wanted, **dice.others(*rest)}
    return Drawn({"d": folder, "e": ending}, files, _moved(files, list(wanted), folder))


def _listed(dice: Dice) -> tuple[str, list[str], dict[str, str]]:
    """A list, the two or three files that it names, and all files there are."""
    files = dice.others(*[dice.random.choice(("txt", "log", "csv")) for _ in range(dice.between(4, 5))])
    named, listing = dice.random.sample(list(files), dice.between(2, 3)), dice.file()
    return listing, named, {**files, listing: text(named)}


def _move_listed(dice: Dice) -> Drawn:
    folder = dice.word()
    listing, paths, files = _listed(dice)
    return Drawn({"d": folder, "l": listing}, files, _moved(files, paths, folder))


def _delete_listed(dice: Dice) -> Drawn:
    listing, paths, files = _listed(dice)
    return Drawn({"l": listing}, files, dict.fromkeys(paths))


def _rename(dice: Dice) -> Drawn:
    note, old, new = dice.file(), dice.file(), dice.file()
    files = {note: text([new]), old: text(dice.lines(1, 3)), **dice.others("txt", "log")}
    return Drawn({"n": note, "a": old}, files, {old: None, new: files[old]})


def _found(dice: Dice) -> tuple[str, str, dict[str, str]]:
    """A word, the one .txt file that holds it, and all files there are."""
    word, files = dice.word(), dice.others("txt", "txt", "txt")
    path = dice.random.choice(list(files))
    return word, path, {**files, path: f"{files[path]}{word} {dice.word()}\n", **dice.others("csv")}


def _move_found(dice: Dice) -> Drawn:
    folder = dice.word()
    word, path, files = _found(dice)
    return Drawn({"w": word, "d": folder}, files, _moved(files, [path], folder))


def _copy_found(dice: Dice) -> Drawn:
    target = dice.file()
    word, path, files = _found(dice)
    return Drawn({"w": word, "b": target}, files, {target: files[path]})


JOBS = {
    "move_by_ending": Job(
        (
            "Make a folder {d} and move all .{e} files into it.",
            "Move all .{e} files into a new folder {d}.",
        ),
        _by_ending,
    ),
    "move_listed": Job(
        (
            "Make a folder {d} and move the files named in {l} into it.",
            "Move the files named in {l} into a new folder {d}.",
        ),
        _move_listed,
    ),
    "delete_listed": Job(
        (
            "Delete the files named in {l}.",
            "The file {l} names some files. Delete those files.",
        ),
        _delete_listed,
    ),
    "rename_to_note": Job(
        (
            "Rename {a} to the name written in {n}.",
            "The file {n} holds a name. Rename {a} to that name.",
        ),
        _rename,
    ),
    "move_found": Job(
        (
            "Find the .txt file that contains {w} and move it into a new folder {d}.",
            "One .txt file contains {w}. Make a folder {d} and move that file into it.",
        ),
        _move_found,
    ),
    "copy_found": Job(
        (
            "Find the .txt file that contains {w} and copy it to {b}.",
            "One .txt file contains {w}. Copy that file to {b}.",
        ),
        _copy_found,
    ),
}
