"""What a word stands for: a spec, or a step, harness or question by its id or the unique beginning of one."""

import re
from dataclasses import dataclass
from typing import Literal

from hbench.view.page import NotFound
from hbench.view.reading import Asked

Sort = Literal["spec", "step", "candidate", "rollout", "trajectory", "harness", "question"]
SHOWN = 8  # digits of a key in an address that is to be read
FORMS = "a spec's name or file, STEP, STEP.CANDIDATE, STEP/QUESTION, STEP.CANDIDATE/QUESTION.REPEAT, HARNESS or QUESTION"
_ADDRESS = re.compile(r"([0-9a-f]+)(?:\.(\d+))?(?:/([0-9a-f]+)(?:\.(\d+))?)?")
# An empty bank is a harness without files: candidates know it, harnesses does not.
_HARNESSES = "(select harness_id from harnesses union select parent_id from candidates)"
_SOUGHT = (("step", "steps", "step_key"), ("harness", _HARNESSES, "harness_id"), ("question", "questions", "question_id"))


@dataclass(frozen=True)
class Named:
    """id: the whole harness id or question id, the word for specs (see spec_names); of the other sorts the step's key."""

    sort: Sort
    id: str
    candidate: int = 0
    question_id: str = ""
    repeat: int = 0


def rollout_address(step_key: str, candidate: int, question_id: str, repeat: int = 0) -> str:
    """As `hbench trace` takes it."""
    return f"{candidate_address(step_key, candidate)}/{question_id[:SHOWN]}" + (f".{repeat}" if repeat else "")


def candidate_address(step_key: str, candidate: int = 0) -> str:
    """As `hbench trace` takes it."""
    return step_key[:SHOWN] + (f".{candidate}" if candidate else "")


def named(reading: Asked, word: str) -> Named:
    """What `word` stands for. Raises NotFound, saying why, where it is nothing, or more than one thing."""
    if spec_names(reading, word):
        return Named("spec", word)
    address = _ADDRESS.fullmatch(word.lower())
    if address is None:
        raise NotFound(f"{word!r} is no spec that was run here, and is no address; there are {FORMS}")
    begin, number, question, repeat = address.groups()
    if question is None and number is None:
        return _by_beginning(reading, begin)
    step_key = _only(reading, ("step", "steps", "step_key"), begin)
    if question is None:
        return _candidate(reading, step_key, int(number))
    return _rollout(reading, Named("rollout", step_key, int(number or 0), question, int(repeat or 0)))


def spec_names(reading: Asked, word: str) -> list[str]:
    """The specs that `word` stands for: the one of that name, or those of a file, named as other commands take it."""
    known = reading.query("select distinct name, file from specs order by name").rows
    named = [name for name, _ in known if name == word]
    return named[:1] or list(dict.fromkeys(name for name, file in known if _below_specs(file) == _below_specs(word)))


def _below_specs(file: str) -> str:
    return file.removeprefix("./").rpartition("specs/")[2].removesuffix(".yaml")


def _by_beginning(reading: Asked, begin: str) -> Named:
    found = [(sort, id) for sort, table, column in _SOUGHT for id in _ids(reading, table, column, begin)]
    if len(found) != 1:
        raise NotFound(_not_one(begin, [f"{sort} {id}" for sort, id in found]))
    sort, id = found[0]
    if sort == "step" and reading.query("select count(*) from candidates where step_key = ?", [id]).rows == [(1,)]:
        return Named("candidate", id)
    return Named(sort, id)


def _candidate(reading: Asked, step_key: str, number: int) -> Named:
    if not reading.query("select 1 from candidates where step_key = ? and candidate = ?", [step_key, number]).rows:
        raise NotFound(f"step {step_key[:SHOWN]} has no candidate {number}")
    return Named("candidate", step_key, number)


def _rollout(reading: Asked, asked: Named) -> Named:
    sql = "select distinct question_id from rollouts where step_key = ? and candidate = ? and starts_with(question_id, ?) limit 6"
    found = [id for (id,) in reading.query(sql, [asked.id, asked.candidate, asked.question_id]).rows]
    if len(found) != 1:
        where = f"step {candidate_address(asked.id, asked.candidate)}"
        raise NotFound(_not_one(asked.question_id, [f"question {id}" for id in found], f" among the rollouts of {where}"))
    sql = "select 1 from {} where step_key = ? and question_id = ? and repeat = ?"
    key = [asked.id, found[0], asked.repeat]
    if not reading.query(sql.format("rollouts"), key).rows:
        raise NotFound(f"question {found[0]} was not run a time {asked.repeat} (the first is 0)")
    sort = "trajectory" if reading.query(sql.format("trajectories"), key).rows else "rollout"
    return Named(sort, asked.id, asked.candidate, found[0], asked.repeat)


def harness_id(reading: Asked, word: str) -> str:
    """The whole id of the harness that `word` stands for: by its id, or as the one that a candidate made. Raises NotFound."""
    begin, dot, number = word.lower().partition(".")
    if not re.fullmatch(r"[0-9a-f]+", begin) or (dot and not number.isdigit()):
        raise NotFound(f"{word!r} is no id of a harness, and no STEP.CANDIDATE")
    if not dot and (found := _ids(reading, _HARNESSES, "harness_id", begin)):
        if len(found) > 1:
            raise NotFound(_not_one(begin, [f"harness {id}" for id in found]))
        return found[0]
    step_key = _only(reading, ("step", "steps", "step_key"), begin)
    made = reading.query(
        "select harness_id, outcome from candidates where step_key = ? and candidate = ?", [step_key, int(number or 0)]
    )
    if not made.rows:
        raise NotFound(f"no harness and no candidate begins with {word}")
    if made.rows[0][0] is None:
        raise NotFound(f"candidate {candidate_address(step_key, int(number or 0))} made no harness: {made.rows[0][1]}")
    return made.rows[0][0]


def _only(reading: Asked, sought: tuple[str, str, str], begin: str) -> str:
    sort, table, column = sought
    found = _ids(reading, table, column, begin)
    if len(found) != 1:
        raise NotFound(_not_one(begin, [f"{sort} {id}" for id in found]))
    return found[0]


def _ids(reading: Asked, table: str, column: str, begin: str) -> list[str]:
    sql = f"select distinct {column} from {table} where starts_with({column}, ?) order by {column} limit 6"
    return [id for (id,) in reading.query(sql, [begin]).rows]


def _not_one(begin: str, found: list[str], where: str = "") -> str:
    if not found:
        return f"nothing begins with {begin}{where or ' in these results'}"
    more = " and others" if len(found) > 5 else ""
    return f"{begin} may be {', '.join(found[:5])}{more}: give more of it"
