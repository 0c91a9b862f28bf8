"""A short diagnosis and one Python code block: the whole new program."""

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from hbench.core.failure import EditFailure
from hbench.core.harness import Harness
from hbench.core.thinking import after_thinking
from hbench.parts.edits._fences import Fence, read_fences
from hbench.parts.edits._lines import line_end
from hbench.parts.edits._result import edited
from hbench.parts.part import Part


@dataclass(frozen=True, slots=True)
class Edit:
    """code: the program, LF line ends, one final newline. explanation: the diagnosis, without the code block."""

    code: str
    explanation: str


class PythonBlock(Part):
    """Exactly one Python fence (tag python, py, python3 or none); other fences and all prose are the diagnosis.

    Fences are ``` or ~~~, closed by a line of the same sign, at least as long; an indented fence is dedented.
    (Harness learning, multi-hop QA.)
    """

    kind: Literal["python_block"] = "python_block"
    max_lines: int = Field(200, ge=1, description="Longest program an edit may leave, in lines; 200 as in the paper")

    def parse(self, response: str, finish_reason: str = "stop") -> Edit:
        """The program in `response`. Raises EditFailure("parse", …): truncated_response, unfinished_reasoning,
        no_code_block, multiple_code_blocks or unterminated_code_block.
        """
        if finish_reason == "length":
            raise EditFailure("parse", "truncated_response", "the response was cut at the token limit")
        said = after_thinking(response)
        if said is None:
            raise EditFailure("parse", "unfinished_reasoning", "the thought was never closed, so there is no answer")
        lines = said.replace("\r\n", "\n").split("\n")
        fence = _only_python(read_fences(lines))
        outside = lines[: fence.start] + lines[fence.stop :]
        code = "\n".join(fence.body).removeprefix("\ufeff")
        return Edit(code + "\n" if code.strip() else "", "\n".join(outside).strip())

    def apply(self, parent: Harness, edit: Edit) -> Harness:
        """Raises EditFailure("apply", …): no_change, or what is wrong with the program."""
        code = re.sub(r"\r?\n", line_end(parent.text), edit.code)
        return edited(parent, code, self.max_lines)


def _only_python(fences: list[Fence]) -> Fence:
    python = [fence for fence in fences if fence.is_python]
    if len(python) > 1:
        where = ", ".join(str(fence.start + 1) for fence in python)
        message = f"{len(python)} Python blocks (lines {where} of the response); write exactly one, the whole program"
        raise EditFailure("parse", "multiple_code_blocks", message)
    if fences and not fences[-1].closed:  # only the last can be open
        message = f"the block opened on line {fences[-1].start + 1} of the response is never closed"
        raise EditFailure("parse", "unterminated_code_block", message)
    if not python:
        tags = sorted({fence.tag for fence in fences})
        found = f"; blocks tagged {', '.join(tags)} do not count" if tags else ""
        raise EditFailure("parse", "no_code_block", f"the response has no ```python block{found}")
    return python[0]
