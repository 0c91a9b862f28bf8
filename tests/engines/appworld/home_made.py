"""Home-made tasks of AppWorld played in its real engine. One engine serves all tests of a process."""

import json

import pytest

from hbench.core.failure import ToolError
from hbench.core.trajectory import Work
from hbench.engines.appworld import installation
from hbench.engines.appworld.world import EVALUATION
from hbench.parts.part import build
from tests.engines.jail.lab import loop

WITH_ENGINE = [
    pytest.mark.skipif(installation.version() == "absent", reason="AppWorld is not installed: make appworld"),
    pytest.mark.slow,
]
DOMAIN = build("domains", {"kind": "appworld", "source": "home_made"})
LOGIN = """
passwords = {each["account_name"]: each["password"] for each in apis.supervisor.show_account_passwords()}
email = apis.supervisor.show_profile()["email"]
token = apis.simple_note.login(username=email, password=passwords["simple_note"])["access_token"]
notes, page = [], 0
while found := apis.simple_note.search_notes(access_token=token, page_index=page, page_limit=5):
    notes, page = notes + found, page + 1
"""


def kind_of(question) -> str:
    return question.meta["made"]["kind"]


def first(kind: str, seed: int = 0) -> list:
    """The three questions of the first scenario of this kind."""
    return [question for question in DOMAIN.questions(0, 12, seed) if kind_of(question) == kind]


def solution(question) -> str:
    """Code that does what is asked, by the apps' interfaces alone."""
    truth = question.answer["data"]
    doing = {
        "count": f"answer = {question.answer['answer']}",
        "add": "title, content = NOTE\napis.simple_note.create_note(title=title, content=content, access_token=token)",
        "rename": "old = [n['note_id'] for n in notes if n['title'] == OLD]\n"
        "apis.simple_note.update_note(note_id=old[0], title=NOTE[0], access_token=token)",
        "clear": "for n in notes:\n    if n['title'] in TITLES:\n"
        "        apis.simple_note.delete_note(note_id=n['note_id'], access_token=token)",
    }[kind_of(question)]
    old = question.text.split('"')[1] if kind_of(question) == "rename" else None
    given = f"NOTE, OLD, TITLES = {truth.get('note')!r}, {old!r}, {truth.get('titles')!r}\nanswer = None\n"
    return f"{LOGIN}{given}{doing}\napis.supervisor.complete_task(answer=answer)"


def played(question, *codes: str) -> tuple[dict, list[str]]:
    """What the tests say of the world after these calls, and what each call gave."""

    async def go():
        world = await DOMAIN.open_services(question)
        said = []
        try:
            for code in codes:
                try:
                    said.append(await world.called("world", [code], ""))
                except ToolError as refused:
                    said.append(f"refused: {refused}")
        finally:
            files = await world.finish()
        return json.loads(files[EVALUATION]), said

    return loop().run_until_complete(go())


def score(question, *codes: str) -> float:
    found, _ = played(question, *codes)
    return DOMAIN.grade_work(Work("Done.", {EVALUATION: json.dumps(found).encode()}), question)["score"]
