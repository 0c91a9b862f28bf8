"""An edit format for models that cannot write: whatever they say stands for one of a few harnesses."""

from pathlib import Path

CANNED = '''
"""Every completion is an edit: a harness that asks twice, or, where nothing is to be run, a failure."""

import zlib
from typing import Literal

from hbench.core.failure import EditFailure
from hbench.core.harness import Harness
from hbench.parts.part import Part

ASKS = """def run(question, tools):
    tools.lm("%(edit)s, first: " + question)  # no other harness asks the same
    reply = tools.lm("%(edit)s: " + question)
    return %(answer)s
"""
RIGHT = "reply if reply.isdigit() else ''.join(filter(str.isdigit, question))"


class Canned(Part):
    """runs: whether completions become harnesses at all."""

    kind: Literal["canned"] = "canned"
    runs: bool = True

    def parse(self, response, finish_reason="stop"):
        word = zlib.crc32(response.encode("utf-8", "replace"))
        if not self.runs and word % 2:
            raise EditFailure("parse", "odd")
        return word

    def apply(self, parent, edit):
        if not self.runs:
            raise EditFailure("apply", "even")
        return Harness.of(ASKS % {"edit": edit, "answer": RIGHT if edit % 2 else "''"})
'''


def write_canned(parts: Path) -> None:
    """Puts the kind `canned` into a folder of parts."""
    (parts / "edits").mkdir(parents=True)
    (parts / "edits" / "canned.py").write_text(CANNED)
