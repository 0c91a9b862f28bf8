"""SEARCH/REPLACE blocks with an explanation around them: change some lines of the program."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from hbench.core.failure import EditFailure
from hbench.core.harness import ENTRY, Harness
from hbench.core.thinking import after_thinking
from hbench.parts.edits._blocks import Block, read_blocks
from hbench.parts.edits._lines import line_end, split_lines
from hbench.parts.edits._nearest import what_differs
from hbench.parts.edits._result import edited
from hbench.parts.part import Part

# Each way of comparing lines is tried only when the stricter one before it finds no place at all.
_WAYS = (str, lambda line: line.removesuffix("\r"), lambda line: line.rstrip(" \t\r"))


@dataclass(frozen=True, slots=True)
class Edit:
    """blocks: at least one, in the order written. explanation: the text outside them."""

    blocks: tuple[Block, ...]
    explanation: str


class SearchReplace(Part):
    """Each block replaces one run of whole lines of the parent, found exactly once. All blocks apply or none does.

    Blocks are matched against the parent, never against one another's result. Line-end form and trailing blanks are
    ignored when nothing matches exactly; indentation, tabs and quotes always count. (Harness learning, Reasoning Gym.)
    """

    kind: Literal["search_replace"] = "search_replace"
    max_lines: int = Field(200, ge=1, description="Longest program an edit may leave, in lines; 200 as in the paper")

    def parse(self, response: str, finish_reason: str = "stop") -> Edit:
        """The blocks in `response`. Raises EditFailure("parse", …): truncated_response, no_edit_blocks,
        malformed_block, unterminated_block or empty_search.
        """
        if finish_reason == "length":
            raise EditFailure("parse", "truncated_response", "the response was cut at the token limit")
        said = after_thinking(response)
        if said is None:
            raise EditFailure("parse", "no_edit_blocks", "the thought was never closed, so there is no answer")
        blocks, explanation = read_blocks(said)
        return Edit(blocks, explanation)

    def apply(self, parent: Harness, edit: Edit) -> Harness:
        """Raises EditFailure("apply", …): search_not_found, search_ambiguous, overlapping_edits, no_change, or what
        is wrong with the resulting program.
        """
        lines = split_lines(parent.text)
        bare = [line.removesuffix("\n") for line in lines]
        places = [(_place(bare, block), block) for block in edit.blocks]
        _check_apart(places)
        end = line_end(parent.text)
        for start, block in sorted(places, key=lambda place: place[0], reverse=True):
            lines[start : start + len(block.search)] = _written(block, end, lines[start : start + len(block.search)])
        return edited(parent, "".join(lines), self.max_lines)


def _place(lines: list[str], block: Block) -> int:
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
                f"block {block.number}: the SEARCH text stands {len(found)} times in {ENTRY} (lines {where}); "
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
    """The replacement in the parent's line-end form; the last line of a file that ends without one keeps to that."""
    new = [line.removesuffix("\r") + end for line in block.replace]
    if new and not old[-1].endswith("\n"):
        new[-1] = new[-1].removesuffix(end)
    return new
