"""A text with SEARCH/REPLACE blocks laid on it: every block finds its one place, or none applies."""

from collections.abc import Sequence

from hbench.core.failure import EditFailure
from hbench.parts.edits._blocks import Block
from hbench.parts.edits._lines import line_end, split_lines
from hbench.parts.edits._nearest import what_differs

# Each way of comparing lines is tried only when the stricter one before it finds no place at all.
_WAYS = (str, lambda line: line.removesuffix("\r"), lambda line: line.rstrip(" \t\r"))


def replaced(text: str, blocks: Sequence[Block], name: str) -> str:
    """`text` after all blocks, which are matched against `text` alone. name: how messages call it.

    Raises EditFailure("apply", …): search_not_found, search_ambiguous or overlapping_edits.
    """
    lines = split_lines(text)
    bare = [line.removesuffix("\n") for line in lines]
    places = [(_place(bare, block, name), block) for block in blocks]
    _check_apart(places)
    end = line_end(text)
    for start, block in sorted(places, key=lambda place: place[0], reverse=True):
        lines[start : start + len(block.search)] = _written(block, end, lines[start : start + len(block.search)])
    return "".join(lines)


def _place(lines: list[str], block: Block, name: str) -> int:
    """The one place (from 0) at which the block's search lines stand."""
    for way in _WAYS:
        text, wanted = [way(line) for line in lines], [way(line) for line in block.search]
        found = [i for i in range(len(text) - len(wanted) + 1) if text[i : i + len(wanted)] == wanted]
        if len(found) == 1:
            return found[0]
        if found:
            where = ", ".join(str(i + 1) for i in found[:10])
            raise EditFailure(
                "apply",
                "search_ambiguous",
                f"block {block.number}: the SEARCH text stands {len(found)} times in {name} (lines {where}); "
                "add a neighbouring line that tells the places apart",
            )
    raise EditFailure("apply", "search_not_found", f"block {block.number}: {what_differs(lines, block.search)}")


def _check_apart(places: list[tuple[int, Block]]) -> None:
    ordered = sorted(places, key=lambda place: (place[0], place[1].number))
    for (start, one), (next_start, other) in zip(ordered, ordered[1:], strict=False):
        if start + len(one.search) > next_start:
            first, second = sorted((one.number, other.number))
            message = f"blocks {first} and {second} both change line {next_start + 1}; write one block for both"
            raise EditFailure("apply", "overlapping_edits", message)


def _written(block: Block, end: str, old: list[str]) -> list[str]:
    """The replacement in the text's line-end form; the last line of a file that ends without one keeps to that."""
    new = [line.removesuffix("\r") + end for line in block.replace]
    if new and not old[-1].endswith("\n"):
        new[-1] = new[-1].removesuffix(end)
    return new
