"""What a proposer is asked: the same messages in adaptation, in demonstrations and in training."""

from functools import lru_cache

from hbench.core.digest import Json
from hbench.core.harness import ENTRY
from hbench.core.message import Message
from hbench.core.prompt import Prompt, frozen_prompt, render


def edit_messages(prompt: Json, family: Json, harness: Json, report: str, edit: Json) -> tuple[Message, ...]:
    """prompt: {"name", "digest"}; family: {"name", "description"}; harness: as in a value; edit: the format's block."""
    values = {"family": family, "harness": harness["files"][ENTRY], "report": report, "edit": edit}
    return tuple(render(_loaded(prompt["name"], prompt["digest"]), values))


def context_messages(prompt: Json, context: Json, edit: Json) -> tuple[Message, ...]:
    """The same for an edit context, as the value of a contexts step holds it."""
    family = {"name": context["family"], "description": context["description"]}
    return edit_messages(prompt, family, context["harness"], context["report"], edit)


@lru_cache(maxsize=32)
def _loaded(name: str, digest: str) -> Prompt:
    # Reading and checking takes longer than rendering, and its digest says that a prompt is still the same.
    return frozen_prompt({"name": name, "digest": digest})
