"""Prompts: Jinja files under prompts/<role>/, checked when loaded and rendered strictly.

The first line declares the variables: `{# variables: family, harness, report #}`. Messages are blocks named system,
user and assistant, sent in that order; a file without blocks is one user message. Jinja settings: no HTML escaping, the
final newline is kept, the line break after a {% tag %} and the blanks before it are dropped (trim_blocks,
lstrip_blocks), what is undefined is an error, the sandbox is on. Values go in as values: what a model wrote is never
read as a template.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hbench.core.digest import digest
from hbench.core.failure import HbenchError
from hbench.core.message import Message
from hbench.core.prompt_examples import ROLE_EXAMPLES

_DECLARATION = re.compile(r"\{#-?\s*variables:(?P<names>[\w\s,]*)-?#\}")


class PromptError(HbenchError):
    """problems: each `file:line:column: what (hint)`."""

    def __init__(self, problems: Sequence[str]):
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Prompt:
    """A prompt that passed its checks. digest covers `sources`: the file and every one it includes or imports."""

    name: str
    text: str
    digest: str
    variables: tuple[str, ...]
    sources: Mapping[str, str] = field(repr=False, default_factory=dict)

    def to_json(self) -> dict[str, str]:
        """What a step's params hold of it."""
        return {"name": self.name, "digest": self.digest}


def load_prompt(name: str, examples: Sequence[Mapping[str, Any]] | None = None) -> Prompt:
    """The prompt prompts/<name>.j2, from the working folder or from what ships with hbench.

    examples: values it is rendered with as a check; those of its role (the folder's name) unless given. Raises
    PromptError with every problem found.
    """
    from hbench.core import prompt_checks, prompt_source

    sources, problems = prompt_source.read(name)
    if problems:
        raise PromptError(problems)
    text = sources[f"{name}.j2"]
    names = _declared(text)
    if names is None:
        where = prompt_source.shown_path(f"{name}.j2")
        raise PromptError([f"{where}:1:1: the first line must declare the variables ({{# variables: a, b #}})"])
    prompt = Prompt(name, text, digest(sources), names, sources)
    if examples is None:
        examples = ROLE_EXAMPLES.get(name.split("/")[0], ({},))
    if problems := prompt_checks.problems_of(prompt, examples):
        raise PromptError(problems)
    return prompt


def frozen_prompt(block: Mapping[str, str]) -> Prompt:
    """The prompt that a plan froze as {"name", "digest"}. Raises HbenchError when its files have changed since."""
    prompt = load_prompt(block["name"])
    if prompt.digest != block["digest"]:
        raise HbenchError(f"prompt {prompt.name} has changed since this plan was made; run the command again")
    return prompt


def render(prompt: Prompt, values: Mapping[str, Any]) -> list[Message]:
    """The messages. Each block is rendered apart, so no value can forge a message.

    Of `values` only what the prompt declares is seen; raises PromptError where one of these is missing.
    """
    from hbench.core import prompt_source

    missing = [name for name in prompt.variables if name not in values]
    if missing:
        raise PromptError([f"{prompt_source.shown_path(prompt.name + '.j2')}:1:1: no value for {', '.join(missing)}"])
    given = {name: values[name] for name in prompt.variables}
    texts, problems = prompt_source.render_blocks(prompt.sources, f"{prompt.name}.j2", given)
    if problems:
        raise PromptError([str(problem) for problem in problems])
    return [Message(role, text) for role, text in texts]


def render_text(prompt: Prompt, values: Mapping[str, Any]) -> str:
    """The text of a prompt without message blocks, such as a report."""
    return "\n".join(message.content for message in render(prompt, values))


def _declared(text: str) -> tuple[str, ...] | None:
    found = _DECLARATION.match(text)
    return tuple(re.findall(r"\w+", found["names"])) if found else None
