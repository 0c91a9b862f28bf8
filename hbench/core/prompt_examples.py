"""What each role's prompts are given: values a prompt is rendered with as a check. They are also its documentation."""

from collections.abc import Mapping
from typing import Any

_FAMILY = {"name": "products", "description": "Multiply whole numbers."}

_PROPOSER = {
    "family": _FAMILY,
    "harness": "def run(question, tools):\n    return tools.lm(question)\n",  # the parent's source
    "report": "Score 0.25 on 8 questions.",  # as prompts/report/*.j2 made it
    "edit": {"kind": "search_replace", "max_lines": 200},  # the edit format's fields
}

_CASE = {
    "question": "What is 12 times 12?",
    "score": 0.0,  # in [0, 1]
    "right": False,  # a score of 1
    "answer": "143",  # none where nothing came back, or where the spec hides answers
    "gold": "144",  # none where the spec hides it, or where a checker decides
    "failure": "timeout",  # none when run() returned in time
    "message": "10 s of its own time were used",
    "printed": "",  # by the harness itself; the last two are empty where the spec hides traces
    "trace": [{"number": 1, "kind": "lm", "sent": "What is 12 times 12?", "received": "143"}],
    # supporting documents of a question that has some; none where it has none, or where the spec hides them
    "retrieved": [{"title": "Gross", "call": 1, "place": 3}],  # found by this call first, there at this place
    "missed": ["Dozen"],
}

_NO_DOCUMENTS = {"retrieved": None, "missed": None}

_EDIT = {
    "explanation": "Ask twice.",
    "outcome": "applied",  # or the name of what went wrong
    "message": "",
    "score": 0.5,  # on the scoring questions; none when nothing was run
    "on": "",  # of an edit that a race dropped: on how many of them
    "chosen": True,
}

_REPORT = {
    "family": _FAMILY,
    "score": 0.25,  # J in [0, 1]
    "solved": 2,  # questions with score 1
    "n": 8,
    "completion_rate": 0.875,
    "failures": {"timeout": 1},  # failure kind -> count
    # of the questions not solved, up to the number asked for
    "cases": [_CASE, {**_CASE, "answer": None, "gold": None, "failure": None, "message": "", "trace": [], **_NO_DOCUMENTS}],
    "more": 4,  # failing questions not shown
    "solved_cases": [{**_CASE, "score": 1.0, "right": True, "answer": "144", "failure": None, "message": ""}],
    "others": [{"question": "What is 2 times 3?", "score": 1.0, "right": True}],  # outcomes of those not shown
    "documents": {"retrieved": 1, "all": 2},  # supporting documents over all questions; none as in a case
    "rounds": [  # earlier rounds, oldest first
        {"number": 1, "parent_score": 0.25, "kept_parent": False, "edits": [_EDIT]},
        {
            "number": 2,
            "parent_score": None,
            "kept_parent": True,
            "edits": [{**_EDIT, "outcome": "search_not_found", "message": "…", "score": None, "chosen": False}],
        },
    ],
    "scores_only": False,
}

_NOTHING = {"cases": [], "more": 0, "solved_cases": [], "others": [], "documents": None, "rounds": [], "failures": {}}
_SCORES_ONLY = {**_REPORT, **_NOTHING, "scores_only": True}

# The conversation with one reviewer: its opening (the first four), and what is said each turn.
_REVIEW = {
    "tools": [{"name": "execute", "description": "Run a shell command.", "parameters": {"command": "the command"}}],
    # sort: recipe, check, advice or patterns; [] for a generic review
    "guidance": [
        {"path": "advice/read_first.md", "sort": "advice", "text": "Read a file before you change it."},
        {"path": "checks/overwrites.py", "sort": "check", "text": "def check(proposal, history):\n    return None\n"},
    ],
    "gold": None,  # the right answer, as a question holds it: for an oracle alone
    "budget": 5,  # replacements a rollout
    "turn": 0,
    "since": [{"role": "user", "content": "Sort names.txt."}],  # what the student read and said since the last review
    "proposal": {  # what is not there is None; unreadable: why no call can be read
        "text": "```bash\nsort names.txt -o names.txt\n```",
        "tool": "execute",
        "arguments": {"command": "sort names.txt -o names.txt"},
        "command": "sort names.txt -o names.txt",
        "answer": None,
        "unreadable": None,
    },
    "findings": [{"check": "overwrites", "evidence": "It writes names.txt.", "instruction": "Let it look first."}],
    "left": 5,  # replacements left
    "problem": None,  # what was wrong with its last verdict: then only this is told
}

_SAID_NOTHING = {"tool": None, "arguments": None, "command": None}
_REVIEWS = (
    _REVIEW,
    {**_REVIEW, "guidance": [], "findings": [], "gold": {"A1": 3}, "proposal": {**_REVIEW["proposal"], **_SAID_NOTHING, "answer": "42"}},
    {**_REVIEW, "proposal": {**_REVIEW["proposal"], **_SAID_NOTHING, "unreadable": "two calls"}, "gold": "42"},
    {**_REVIEW, "since": [], "proposal": None, "findings": [], "problem": "no JSON object can be read"},
)

_TOOL = '"""Count lines."""\nimport json, sys\n\nPARAMETERS = {"path": "the file"}\nprint(len(open(json.load(sys.stdin)["path"]).readlines()))\n'

_EVOLVER = {
    "domain": {"name": "files", "description": "Small jobs on files."},
    # the bank now; idle: rounds in a row without a sign of benefit
    "bank": [{"path": "tools/count_lines.py", "text": _TOOL, "enabled": True, "idle": 1}],
    # of one failed rollout, for its notes
    "question_id": "0123456789abcdef",
    "score": 0.0,
    "trace": "[system]\nWork in the workspace.\n\n[user]\nSort names.txt.\n\n[turn 0: the student]\nDone.",
    "notes": [{"question_id": "0123456789abcdef", "text": "Failure: answers without acting."}],
    "folder": False,  # true for a coding agent, which finds traces and bank in its folder
    "most": 20,  # files that may change
}

_GUIDANCE = {
    "domain": _EVOLVER["domain"],
    "component": {"path": "tools/count_lines.py", "sort": "tool", "text": _TOOL},
    "target": {"path": "recipes/count_lines.md", "sort": "recipe"},  # sort: recipe, check, advice or patterns
    "call": "```bash\nCOMMAND\n```",  # how the student writes one; "" where its chat template tells it
}

_STUDENT = {
    "question": "Sort names.txt.",  # the instruction; of a sub-agent, its task
    "calls": "To run a command, write it in one block:\n\n```bash\nCOMMAND\n```",  # "" where the chat template tells it
    "notes": "",  # skills and memory of a bank; "" under plain h
    "turns": 40,
    "command_s": 30,
    "agent": True,  # the command `agent` is there
}

ROLE_EXAMPLES: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "proposer": (_PROPOSER,),
    "report": (_REPORT, _SCORES_ONLY),
    "student": (_STUDENT, {**_STUDENT, "calls": "", "notes": "Notes that you can read.", "agent": False}),
    "reviewer": _REVIEWS,
    "evolver": (_EVOLVER, {**_EVOLVER, "bank": [], "folder": True}),
    "guidance": tuple({**_GUIDANCE, "target": {"path": "…", "sort": sort}} for sort in ("recipe", "check", "advice", "patterns")),
}
