"""A family in another output grammar: the same questions and the same right answers, written another way."""

import pytest

from hbench.parts.families.output_grammar import FORMS, OutputGrammar, read
from hbench.parts.part import build
from hbench.spec import load
from tests.world import make_world

INNER = {"kind": "practice", "name": "sum_list"}


def family(form="json", inner=INNER):
    return OutputGrammar(kind="output_grammar", family=inner, form=form)


@pytest.mark.parametrize("form", FORMS)
def test_the_right_answer_is_right_in_the_form_alone(form):
    changed = family(form)
    question = changed.questions(0, 1, 0)[0]
    plain = question.meta["inner"]["answer"]
    assert changed.grade(question.answer, question) == {"score": 1.0, "exact": 1.0}
    assert changed.grade(plain, question) == {"score": 0.0, "exact": 0.0}
    assert changed.grade(FORMS[form][1]("wrong"), question) == {"score": 0.0, "exact": 0.0}


def test_questions_share_what_they_ask_with_the_familys_own_and_nothing_else():
    changed, own = family().questions(0, 5, 0), build("families", INNER).questions(0, 5, 0)
    assert [q.content_id for q in changed] == [q.content_id for q in own]
    assert not {q.id for q in changed} & {q.id for q in own}
    assert all(FORMS["json"][0] in q.text for q in changed)


def test_what_is_hashed_holds_the_familys_own_version_and_builds_it_again():
    block = family("boxed", {"kind": "reasoning_gym", "name": "gcd"}).to_json()
    assert block["family"]["libraries"] and block["name"] == "gcd_boxed"
    assert build("families", block).to_json() == block


@pytest.mark.parametrize("text", ['{"answer": [1]}', '{"answer": "1", "why": "2"}', "[" * 100_000, "42", ""])
def test_json_of_another_shape_is_no_answer(text):
    assert read(text, "json") is None


def test_a_number_in_the_object_counts_as_its_text():
    assert read('{"answer": 42}', "json") == "42"


def test_a_family_with_documents_is_refused():
    with pytest.raises(ValueError, match="documents"):
        family(inner={"kind": "invented_hops"})


def test_a_spec_may_name_it_in_full_or_lay_it_over_the_family(tmp_path, monkeypatch):
    monkeypatch.chdir(make_world(tmp_path).folder)
    spec = load("specs/toy.yaml", ["family={kind: output_grammar, family: {kind: toy, ask: sum}, name: sum_in_json}"])[0]
    assert spec.arms["seed"].family.name == "sum_in_json"
