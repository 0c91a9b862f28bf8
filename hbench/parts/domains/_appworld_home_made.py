"""AppWorld tasks of our own, for a machine without the published ones: scenarios of three on notes, with their tests.

They are far easier than the published ones, and hold nothing of theirs. The engine's databases are made from what stands
here when a task is first played: see hbench/engines/appworld/engine/build.py.
"""

from collections.abc import Callable
from random import Random

from hbench.core.digest import Json, derive_seed, digest

SIZE = 3  # tasks of one scenario
TAGS = ("work", "garden", "recipes", "travel", "music", "budget", "books", "health")
_SUBJECTS = (
    "Tomato soup", "Train to Lyon", "Guitar chords", "Rent", "Pruning roses", "Reading list", "Blood pressure", "Minutes",
    "Lentil curry", "Packing", "Choir", "Savings", "Compost", "Poems", "Vitamins", "Plan", "Bread", "Ferry", "Piano", "Taxes",
)  # fmt: skip
_CONTENTS = ("to be done soon", "ask Kim about it", "see the long list", "finished last week", "not urgent", "check twice")
_PEOPLE = (("Ada", "Stone"), ("Ben", "Okoro"), ("Cleo", "Marin"), ("Dario", "Vance"), ("Esme", "Holt"), ("Finn", "Adler"))

_PHONE = "5551234567"

# What each kind asks for, and the body of its tests; `note`, `notes`, `added`, `updated` and `removed` are at hand there.
_ASKED = {
    "count": "How many of my notes in Simple Note are tagged {tag}?",
    "add": 'Add a note with the title "{title}" and the content "{content}" to my Simple Note account.',
    "rename": 'Give my note "{old}" in Simple Note the new title "{title}". Change nothing else about it.',
    "clear": "Delete every note tagged {tag} from my Simple Note account, and no other.",
}
_TESTS = {
    "count": (
        ("the answer is the number of notes", "test.answer(answer, ground_truth_answer)"),
        ("no note was changed", "test.case(models.changed_model_names(), '==', set())"),
    ),
    "add": (
        ("the new note says what it was to say", "test.case(said(added), '==', [private_data['note']])"),
        ("nothing but notes was changed", "test.case(models.changed_model_names() - {NOTE}, '==', set())"),
        ("no other note was touched", "test.case(len(updated) + len(removed), '==', 0)"),
    ),
    "rename": (
        ("the note has its new title and its old content", "test.case(said(updated), '==', [private_data['note']])"),
        ("nothing but notes was changed", "test.case(models.changed_model_names() - {NOTE}, '==', set())"),
        ("no note came or went", "test.case(len(added) + len(removed), '==', 0)"),
    ),
    "clear": (
        ("the tagged notes are gone, and no other", "test.case(titles(removed), '==', private_data['titles'])"),
        ("nothing but notes was changed", "test.case(models.changed_model_names() - {NOTE}, '==', set())"),
        ("no note came or was changed", "test.case(len(added) + len(updated), '==', 0)"),
    ),
}
KINDS = tuple(_ASKED)
_EVALUATION = '''NOTE = "simple_note.Note"


def said(notes):
    return [[note.title, note.content] for note in notes]


def titles(notes):
    return sorted(note.title for note in notes)


def evaluate(test, public_data, private_data, main_user, models, ground_truth_answer):
    answer = models.end.supervisor.Task.all()[0].answer
    added, updated, removed = models.changed_records(NOTE)
'''


def scenario(number: int, seed: int) -> list[Json]:
    """The three tasks of scenario `number` of the pool that `seed` gives; kinds come in turn.

    Each: task_id (`<scenario>_<1 to 3>`), kind, instruction, person, password, notes, ground_truth (file -> content, as the
    engine reads it).
    """
    name = digest(["appworld home made", number, seed])[:7]
    kind = KINDS[number % len(KINDS)]
    return [_task(name, kind, which, Random(derive_seed("appworld", seed, number, which))) for which in range(1, SIZE + 1)]


def _task(scenario: str, kind: str, which: int, dice: Random) -> Json:
    tag = TAGS[(int(scenario, 16) + which) % len(TAGS)]
    notes = _notes(tag, dice)
    blanks, answer, private = _drawn(kind, tag, notes, dice)
    first, last = dice.choice(_PEOPLE)
    email = f"{first}.{last}@example.com".lower()
    return {
        "task_id": f"{scenario}_{which}",
        "kind": kind,
        "instruction": _ASKED[kind].format(**blanks),
        "person": {"first_name": first, "last_name": last, "email": email, "phone_number": _PHONE},
        "password": f"{dice.randrange(10**8):08d}",
        "notes": notes,
        "ground_truth": _ground_truth(kind, answer, private),
    }


def _notes(tag: str, dice: Random) -> list[Json]:
    """Eight to fourteen notes with titles of their own; a page of a list shows five, and often more are tagged."""
    others = [other for other in TAGS if other != tag]
    subjects = dice.sample(_SUBJECTS, dice.randint(8, 14))
    tagged = dice.randint(3, len(subjects) - 2)
    notes = [
        {"title": title, "content": dice.choice(_CONTENTS), "tags": [tag] if i < tagged else [dice.choice(others)]}
        for i, title in enumerate(subjects)
    ]
    dice.shuffle(notes)
    return notes


def _drawn(kind: str, tag: str, notes: list[Json], dice: Random) -> tuple[Json, Json, Json]:
    """(what the wording names, the answer, what the tests compare with)."""
    mine = [note["title"] for note in notes if note["tags"] == [tag]]
    free = dice.choice([subject for subject in _SUBJECTS if subject not in {note["title"] for note in notes}])
    content, old = dice.choice(_CONTENTS), dice.choice(notes)
    found: dict[str, Callable[[], tuple[Json, Json, Json]]] = {
        "count": lambda: ({"tag": tag}, len(mine), {}),
        "add": lambda: ({"title": free, "content": content}, None, {"note": [free, content]}),
        "rename": lambda: ({"old": old["title"], "title": free}, None, {"note": [free, old["content"]]}),
        "clear": lambda: ({"tag": tag}, None, {"titles": sorted(mine)}),
    }
    return found[kind]()


def _ground_truth(kind: str, answer: Json, private: Json) -> Json:
    tests = _TESTS[kind]
    body = "".join(f"    with test({requirement!r}):\n        {check}\n" for requirement, check in tests)
    first, *rest = tests  # an untouched world fails the first and passes the rest
    labels = [{"requirement": first[0], "label": "no_op_fail"}]
    labels += [{"requirement": requirement, "label": "no_op_pass"} for requirement, _ in rest]
    counts = {"num_apps": 1, "num_apis": 3, "num_api_calls": 4, "num_solution_code_lines": 5}
    return {
        "metadata.json": {"difficulty": 1, "mode": "minimal", **counts},
        "public_data.json": {},
        "private_data.json": private,
        "test_data.json": labels,
        "answer.json": answer,
        "evaluation.py": _EVALUATION + body,
    }
