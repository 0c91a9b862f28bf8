"""The words of an execution report, from rollouts on disk or in memory: equal outcomes give equal text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, get_args

from hbench.core.digest import Json
from hbench.core.failure import Boundary
from hbench.core.prompt import frozen_prompt, render_text
from hbench.parts.part import build
from hbench.steps._report_documents import Support, supporting_documents
from hbench.steps._report_trace import clip, trace

QUESTION_CHARS = 1200  # some puzzles are boards of a thousand characters
SHORT_CHARS = 300  # an answer, a message, an explanation

# A row with any other boundary would be a broken machine's doing: nothing of it is told.
_TOLD = {None, *get_args(Boundary)}


class Evaluated(Protocol):
    """A harness that was run on questions: an evaluate step's artifact, or steps/_evaluated.py's in memory."""

    value: Json

    def rows(self, table: str) -> list[dict]: ...


def report_text(params: Json, evaluated: Evaluated, questions: Sequence[Json], past: Mapping[int, Json]) -> str:
    """params: as of a report step. past: number of an earlier round, from 0 -> what select says of it (`history`).

    No times, and no order of arrival.
    """
    family = build("families", params["family"])
    rollouts = _ordered(evaluated)
    failing, solved = ([], []) if params["scores_only"] else _sorted_out(rollouts)
    shown = failing[: params["failures"]]
    tell = _Teller(params, evaluated, questions)
    values = {
        "family": {"name": family.name, "description": family.describe()},
        **_scores(evaluated.value, rollouts, params),
        "cases": [tell.case(row) for row in shown],
        "more": len(failing) - len(shown),
        "solved_cases": [tell.case(row) for row in solved[: params["successes"]]],
        "others": [tell.outcome(row) for row in (*failing[params["failures"] :], *solved[params["successes"] :])],
        "documents": tell.documents(rollouts),
        "rounds": _rounds(params, past),
        "scores_only": params["scores_only"],
    }
    return render_text(frozen_prompt(params["prompt"]), values)


def _ordered(evaluated: Evaluated) -> list[dict]:
    """Rollouts in the order of the questions: rows come in the order in which they ended."""
    place = {question: i for i, question in enumerate(evaluated.value["question_ids"])}
    told = [row for row in evaluated.rows("rollouts") if row["boundary"] in _TOLD]
    return sorted(told, key=lambda row: (place[row["question_id"]], row["repeat"]))


def _scores(value: Json, rollouts: Sequence[Mapping[str, Any]], params: Json) -> dict[str, Json]:
    kinds = Counter(row["failure"] for row in rollouts if row["failure"])
    return {
        "score": value["score"],
        "solved": len(_sorted_out(rollouts)[1]),
        "n": value["n"],
        "completion_rate": value["completion_rate"],
        "failures": {} if params["scores_only"] else dict(sorted(kinds.items())),
    }


def _sorted_out(rollouts: Sequence[dict]) -> tuple[list[dict], list[dict]]:
    """One rollout of each question not solved, and of each solved in every repeat.

    Of the failing ones each sort is seen before a second of the same sort, the lowest scores first.
    """
    worst: dict[str, dict] = {}
    for row in rollouts:
        if row["question_id"] not in worst or row["score"] < worst[row["question_id"]]["score"]:
            worst[row["question_id"]] = row
    met: Counter[str] = Counter()
    ranked = []
    for row in sorted(worst.values(), key=lambda row: row["score"]):
        sort = row["failure"] or ("wrong" if row["score"] == 0 else "partly right")
        ranked.append((met[sort], row))
        met[sort] += 1
    failing = [row for _, row in sorted(ranked, key=lambda pair: pair[0]) if row["score"] < 1]
    return failing, [row for row in worst.values() if row["score"] >= 1]


class _Teller:
    """Turns rollout rows into what the template shows, as far as `params` allows."""

    def __init__(self, params: Json, evaluated: Evaluated, questions: Sequence[Json]):
        self._params = params
        self._questions = {question["id"]: question for question in questions}
        self._support = any(question["meta"] and question["meta"].get("supporting") for question in questions)
        self._support &= (params["show_retrieved"] or params["show_missed"]) and not params["scores_only"]
        self._traced = params["show_traces"] and not params["scores_only"]
        read = self._traced or self._support
        self._events: dict[tuple[str, int], list[dict]] = {}
        for event in evaluated.rows("events") if read else []:
            self._events.setdefault((event["question_id"], event["repeat"]), []).append(event)
        self._texts = {row["digest"]: row["text"] for row in evaluated.rows("texts")} if read else {}

    def case(self, row: Mapping[str, Any]) -> dict[str, Json]:
        answer = row["answer"] if self._params["show_answers"] else None
        gold = self._questions[row["question_id"]]["answer"] if self._params["show_gold"] else None
        # A grader's own words may quote the gold answer.
        message = "the answer could not be graded" if row["boundary"] == "grader" else row["error"] or ""
        printed = self._texts.get(row.get("output_digest"), "") if self._traced else ""
        return {
            **self.outcome(row),
            "answer": None if answer is None else clip(answer, SHORT_CHARS),
            "gold": None if gold is None else clip(str(gold), SHORT_CHARS),
            "failure": row["failure"],
            "message": clip(message, SHORT_CHARS),
            "printed": clip(printed, SHORT_CHARS),
            "trace": trace(self._calls(row), self._texts, self._params["trace_chars"] if self._traced else 0),
            **self._documents_of(row),
        }

    def outcome(self, row: Mapping[str, Any]) -> dict[str, Json]:
        text = self._questions[row["question_id"]]["text"]
        return {"question": clip(text, QUESTION_CHARS), "score": row["score"], "right": row["score"] >= 1}

    def documents(self, rollouts: Sequence[Mapping[str, Any]]) -> Json:
        """{"retrieved", "all"}: supporting documents over all rollouts; None where the spec hides either half."""
        told = self._params["show_retrieved"] and self._params["show_missed"]
        found = [support for support in map(self._support_of, rollouts) if support] if told else []
        retrieved, missed = sum(len(s.retrieved) for s in found), sum(len(s.missed) for s in found)
        return {"retrieved": retrieved, "all": retrieved + missed} if found else None

    def _documents_of(self, row: Mapping[str, Any]) -> dict[str, Json]:
        support, params = self._support_of(row), self._params
        retrieved = list(support.retrieved) if support and params["show_retrieved"] else None
        return {"retrieved": retrieved, "missed": list(support.missed) if support and params["show_missed"] else None}

    def _support_of(self, row: Mapping[str, Any]) -> Support | None:
        question = self._questions[row["question_id"]]
        return supporting_documents(question, self._calls(row), self._texts) if self._support else None

    def _calls(self, row: Mapping[str, Any]) -> list[dict]:
        return self._events.get((row["question_id"], row["repeat"]), [])


def _rounds(params: Json, past: Mapping[int, Json]) -> list[dict[str, Json]]:
    """Earlier rounds, oldest first, at most `history` of them: what each edit was for, and what it did."""
    if params["scores_only"] or not params["history"]:
        return []
    return [_round(number + 1, past[number]) for number in sorted(past)[-params["history"] :]]


def _round(number: int, value: Json) -> dict[str, Json]:
    edits = [
        {
            "explanation": clip(edit["explanation"], SHORT_CHARS),
            "outcome": edit["outcome"],
            "message": clip(edit["message"], SHORT_CHARS),
            "score": edit["score"],
            "on": " on the first {} of {} questions".format(*edit["questions"]) if "questions" in edit else "",
            "chosen": edit["slot"] == value["chosen_slot"],
        }
        for edit in value["edits"]
    ]
    kept = value["chosen_slot"] < 0
    return {"number": number, "parent_score": value["parent_score"], "kept_parent": kept, "edits": edits}
