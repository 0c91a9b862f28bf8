"""A review session over a scripted reviewer: the rollout around it is played by the test."""

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from hbench.core.action import EXECUTE, Tool
from hbench.core.harness import Harness
from hbench.core.message import Message, Request, Sampling
from hbench.core.model import ModelRef
from hbench.core.prompt import load_prompt
from hbench.engines.scripted import ScriptedLM
from hbench.parts.calls.fenced import Fenced
from hbench.runtime.acting.patience import Patience
from hbench.runtime.acting.reviewer import Reviewed, ReviewSession
from hbench.steps.act_setting import Review
from tests.engines.jail.lab import loop

TOOLS = (Tool(EXECUTE, "Run a shell command.", {"command": "the command"}),)
CALL = Fenced(kind="fenced")
HEAD = (Message("system", "You work in a shell."), Message("user", "Sort names.txt."))
K = Harness(
    {
        "recipes/safe_sort.md": "Sort a list in place once you have seen it:\n\n```bash\nsort -o FILE FILE\n```\n",
        "checks/looks_first.py": """
def check(proposal, history):
    said = " ".join(message["content"] for message in history)
    if "-o" in (proposal["command"] or "") and "head" not in said:
        return {"evidence": "It writes " + proposal["command"].split()[-1] + ".", "instruction": "Have every file looked at before it is written to."}
""",
        "advice/blank_lines.md": "Blank lines at the end of a list are to be dropped before it is counted.",
        "patterns.md": "A sorted file whose first line was a header is sorted wrongly.",
    }
)
TOLD = Harness({path: text for path, text in K.files.items() if not path.startswith("checks/")})  # without its check


def command(text: str, said: str = "") -> str:
    """A student's message that runs `text`."""
    return (f"{said}\n\n" if said else "") + f"```bash\n{text}\n```"


def verdict(decision: str = "pass", **said: Any) -> str:
    return json.dumps({"decision": decision, **said})


def review(**fields: Any) -> Review:
    """One as a plan holds it: the guided prompt, five replacements, three tries, every turn; `fields` laid over that."""
    prompts = {"prompt": _frozen("reviewer/guided"), "turn_prompt": _frozen("reviewer/turn")}
    rest = {"guidance": None, "budget": 5, "tries": 3, "oracle": False, "when": {"kind": "always", "turns": []}}
    return Review(**{"reviewer": ModelRef("reviewer", "scripted", {"kind": "scripted"}), **prompts, **rest, **fields})


@cache
def _frozen(name: str) -> Any:
    return load_prompt(name).to_json()


class Played:
    """A rollout around one session. answers: what the reviewer says, in order or as a function of the request."""

    def __init__(
        self,
        answers: Callable | Sequence,
        run_python: Any = None,
        gold: Any = None,
        patience: Patience | None = None,
        **fields: Any,
    ):
        self.lm, self.seen = ScriptedLM(answers), list(HEAD)
        self.session = ReviewSession(review(**fields), TOOLS, CALL, self._ask, run_python or _no_jail, gold, patience)

    async def _ask(self, talk: list[Message]) -> Any:
        return (await self.lm.generate([Request(tuple(talk), Sampling())]))[0]

    async def turn(self, proposal: str, observation: str = "done") -> Reviewed:
        """One turn, and what the student sees after it."""
        reviewed = await self.session.turn(tuple(self.seen), proposal)
        self.seen += [Message("assistant", reviewed.accepted), Message("user", observation)]
        return reviewed

    def play(self, *proposals: str) -> list[Reviewed]:
        """All turns, one after another."""

        async def go() -> list[Reviewed]:
            return [await self.turn(proposal, f"observation {number}") for number, proposal in enumerate(proposals)]

        return loop().run_until_complete(go())

    @property
    def told(self) -> list[str]:
        """What the reviewer was told, a text for each time that it was asked: the last message."""
        return [request.messages[-1].content for request in self.lm.asked]


async def _no_jail(*_: Any, **__: Any) -> None:
    raise AssertionError("no check was to run")
