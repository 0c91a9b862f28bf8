"""SEARCH/REPLACE blocks with an explanation around them: change some lines of the program."""

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from hbench.core.failure import EditFailure
from hbench.core.harness import ENTRY, Harness
from hbench.core.thinking import after_thinking
from hbench.parts.edits._blocks import Block, read_blocks
from hbench.parts.edits._replaced import replaced
from hbench.parts.edits._result import edited
from hbench.parts.part import Part


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
        return edited(parent, replaced(parent.text, edit.blocks, ENTRY), self.max_lines)
