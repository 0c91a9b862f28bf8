"""The addresses of pages, each in one place. Templates have them as `to`: `{{ to.run(run_id) }}`."""

from urllib.parse import quote, urlencode

__all__ = [
    "run",
    "run_steps",
    "step",
    "rounds",
    "candidates",
    "candidate",
    "rollouts",
    "rollout",
    "trajectory",
    "harness",
    "diff",
    "text",
    "exhibit",
    "sql",
]


def run(run_id: str) -> str:
    return f"/runs/{_part(run_id)}"


def step(step_key: str) -> str:
    return f"/steps/{_part(step_key)}"


def rounds(spec_digest: str, arm: str, family: str, seed: int) -> str:
    """Of one arm, family and seed: the curve and the tree of harnesses."""
    return f"/rounds/{_part(spec_digest)}" + _asked(arm=arm, family=family, seed=seed)


def run_steps(run_id: str, **wanted: object) -> str:
    """The steps of a run; wanted: status, arm, family, kind."""
    return f"{run(run_id)}/steps" + _asked(**wanted)


def candidates(**wanted: object) -> str:
    """A list of candidates; wanted: step, …"""
    return "/candidates" + _asked(**wanted)


def candidate(step_key: str, number: int = 0) -> str:
    """step_key: the step that proposed it."""
    return f"/candidates/{_part(step_key)}/{number}"


def rollouts(**wanted: object) -> str:
    """A list of rollouts; wanted: step, candidate, harness, question, …"""
    return "/rollouts" + _asked(**wanted)


def rollout(step_key: str, number: int, question_id: str, repeat: int = 0) -> str:
    """number: of the candidate in its step."""
    return f"/rollouts/{_part(step_key)}/{number}/{_part(question_id)}/{repeat}"


def trajectory(step_key: str, question_id: str, repeat: int = 0) -> str:
    return f"/trajectories/{_part(step_key)}/{_part(question_id)}/{repeat}"


def harness(harness_id: str) -> str:
    return f"/harnesses/{_part(harness_id)}"


def diff(before: str, after: str) -> str:
    """Of two harnesses."""
    return f"/diffs/{_part(before)}/{_part(after)}"


def text(digest: str, begin: int = 0) -> str:
    """One long text, from its character `begin` on."""
    return f"/texts/{_part(digest)}" + (_asked(**{"from": begin}) if begin else "")


def exhibit(name: str) -> str:
    return f"/exhibits/{_part(name)}"


def sql(query: str, named: str | None = None, exhibit: str | None = None) -> str:
    """named: the name under which it is saved. exhibit: the one whose rows are its table `units`."""
    return "/sql" + _asked(q=query, named=named, exhibit=exhibit)


def _part(text: object) -> str:
    return quote(str(text), safe="")


def _asked(**wanted: object) -> str:
    given = {name: value for name, value in wanted.items() if value is not None}
    return "?" + urlencode(given) if given else ""
