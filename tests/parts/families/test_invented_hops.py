"""The invented world: names, facts, paragraphs, and questions whose answers follow from them and from nothing else."""

import json
import os
import subprocess
import sys
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from hbench.parts.families import _invented_asks as asks
from hbench.parts.families import _invented_text as text
from hbench.parts.families._invented_world import GROUP, IN_GROUP, RELATIONS, Entity, World, document_id
from hbench.parts.part import build
from tests.where import REPO

SIZES = st.integers(240, 3_000_000)
SEEDS = st.integers(0, 2**40)


def family(**fields):
    return build("families", {"kind": "invented_hops", **fields})


SMALL = family(paragraphs=600)
WORLD = World(600)


@pytest.fixture(scope="module")
def told():
    """(title, kind, relation) -> everything that the world says of it, over all paragraphs."""
    facts: dict = {}
    for paragraph in range(WORLD.paragraphs):
        thing, part = WORLD.about(paragraph)
        for relation in (r for r in RELATIONS.values() if (r.subject, r.part) == (thing.kind, part)):
            value = WORLD.follow(thing, relation)
            facts.setdefault((WORLD.title(thing), thing.kind, relation.name), set()).add(value)
    return facts


def named(title: str, kind: str) -> list[Entity]:
    return [Entity(kind, i) for i in range(WORLD.count(kind)) if WORLD.title(Entity(kind, i)) == title]


def test_no_two_things_of_a_kind_share_a_name_and_some_of_different_kinds_do():
    world = World(12_000)
    titles = [(kind, world.title(Entity(kind, i))) for kind in IN_GROUP for i in range(world.count(kind))]
    assert len(set(titles)) == len(titles)
    shared = Counter(title for _, title in titles)
    assert 0.01 < sum(count > 1 for count in shared.values()) / len(shared) < 0.2


def test_titles_repeat_among_paragraphs_so_only_ids_tell_support():
    titles = Counter(document.title for document in SMALL.corpus().documents())
    assert sum(count > 1 for count in titles.values()) > 0.2 * len(titles)


@settings(max_examples=60, deadline=None)
@given(SIZES, SEEDS, st.data())
def test_every_paragraph_of_any_size_of_world_has_40_to_100_words_and_its_facts(paragraphs, seed, data):
    world = World(paragraphs, seed)
    place = data.draw(st.integers(0, paragraphs - 1))
    document = text.document(world, place)
    assert text.LEAST <= len(document.text.split()) <= text.MOST
    assert document.id == document_id(place)
    thing, part = world.about(place)
    for relation in (r for r in RELATIONS.values() if (r.subject, r.part) == (thing.kind, part)):
        assert text.told(world, world.follow(thing, relation), relation.target) in document.text


@settings(max_examples=60, deadline=None)
@given(SIZES, SEEDS, st.sampled_from(sorted(RELATIONS)), st.data())
def test_a_relation_never_leads_back_into_the_own_group(paragraphs, seed, name, data):
    world, relation = World(paragraphs, seed), RELATIONS[name]
    thing = Entity(relation.subject, data.draw(st.integers(0, world.count(relation.subject) - 1)))
    value = world.follow(thing, relation)
    if isinstance(value, Entity):
        assert value.kind == relation.target and 0 <= value.index < world.count(value.kind)
        assert value.index // IN_GROUP[value.kind] != thing.index // IN_GROUP[thing.kind]


@settings(max_examples=40, deadline=None)
@given(SIZES, SEEDS, st.data())
def test_a_thing_and_its_paragraphs_find_each_other(paragraphs, seed, data):
    world = World(paragraphs, seed)
    place = data.draw(st.integers(0, world.groups * len(GROUP) - 1))
    thing, part = world.about(place)
    assert world.paragraph_of(thing, part) == place


def test_every_relation_is_told_asked_inside_and_asked_whole():
    assert set(text.FACTS) == set(asks.WHOLE) == set(RELATIONS)
    assert set(asks.INSIDE) == {name for name, r in RELATIONS.items() if r.target in IN_GROUP and r.target != "lake"}
    assert all(len(set(wordings)) >= 3 for wordings in text.FACTS.values())
    assert all(len(set(wordings)) >= 2 for wordings in [*asks.WHOLE.values(), *asks.INSIDE.values()])


@settings(max_examples=40, deadline=None)
@given(SIZES, SEEDS, st.sampled_from([[2], [3], [4], [2, 3, 4], [2, 2, 4]]), st.integers(0, 500))
def test_a_question_needs_as_many_different_paragraphs_as_it_has_hops(paragraphs, seed, hops, index):
    made = family(paragraphs=paragraphs, hops=hops).questions(index, index + 1, seed)
    for question in made:
        meta = question.meta
        assert meta["hops"] == hops[index % len(hops)]
        assert len(set(meta["supporting"])) == len(meta["evidence"]) == meta["hops"]
        if meta["type"] == "bridge":
            assert question.answer not in question.text
        assert all(0 <= int(identity[1:]) < paragraphs for identity in meta["supporting"])


def test_every_answer_is_the_only_one_that_the_facts_allow(told):
    """Brute force: every chain is walked again over the facts of all paragraphs, from every thing of the name given."""
    for question in SMALL.questions(0, 400, seed=3):
        here: set = set()
        ends = []
        for title, name, value in question.meta["evidence"]:
            relation = RELATIONS[name]
            if not here or title not in {WORLD.title(thing) for thing in here}:
                here = set(named(title, relation.subject))
            assert len(here) == 1
            found = told[title, relation.subject, name]
            assert len(found) == 1 and {text.told(WORLD, v, relation.target) for v in found} == {value}
            ends.append((title, value))
            here = {v for v in found if isinstance(v, Entity)}
        assert answer_of(question, ends) == question.answer


def answer_of(question, ends):
    if question.meta["type"] == "bridge":
        return ends[-1][1]
    measured = [(title, int(value)) for title, value in ends if value.isdigit()]
    (left, one), (right, other) = sorted(measured, key=lambda pair: pair[1])
    assert one != other
    if question.answer in ("yes", "no"):
        sides = [[title for title, _ in ends][i] for i in (0, len(ends) // 2 if len(ends) != 3 else 2)]
        named_first = min(range(2), key=lambda i: question.text.index(sides[i]))
        values = [int(ends[i][1]) for i in ((0, 1) if len(ends) == 2 else (1, len(ends) - 1))]
        return "yes" if values[named_first] < values[1 - named_first] else "no"
    larger = any(word in question.text for word in (" later,", " more ", " longer,"))
    return right if larger else left


def test_no_supporting_paragraph_can_be_spared(told):
    """No fact is told in two paragraphs: what a thing's other paragraphs say is something else."""
    places = Counter((r.subject, r.name) for r in RELATIONS.values())
    assert set(places.values()) == {1} and all(len(values) == 1 for values in told.values())


def test_a_pool_is_the_same_whatever_part_of_it_is_asked_for():
    assert SMALL.questions(0, 60, seed=1)[20:] == SMALL.questions(20, 60, seed=1)
    assert SMALL.questions(0, 60, seed=1) != SMALL.questions(0, 60, seed=2)


@pytest.mark.parametrize("hops", [[2], [2, 3, 4], [4, 4, 2]])
def test_no_question_comes_twice_until_the_pool_ends(hops):
    made = family(paragraphs=240, hops=hops).questions(0, 10**6, seed=5)
    assert 200 < len(made) < 10**5
    assert len({q.content_id for q in made}) == len({q.id for q in made}) == len(made)
    assert family(paragraphs=240, hops=hops).questions(len(made), len(made) + 5, seed=5) == []


def test_hops_come_in_turn_and_every_fourth_of_each_compares():
    kinds = Counter((q.meta["hops"], q.meta["type"]) for q in SMALL.questions(0, 120, seed=0))
    assert kinds == {(h, t): n for h in (2, 3, 4) for t, n in (("bridge", 30), ("comparison", 10))}


def test_yes_and_no_are_both_right_sometimes():
    golds = Counter(q.answer for q in SMALL.questions(0, 1200, seed=0) if q.answer in ("yes", "no"))
    assert min(golds["yes"], golds["no"]) > 20


def test_other_processes_with_other_hash_seeds_make_the_same_questions_and_paragraphs():
    program = (
        "import json; from hbench.parts.part import build; from itertools import islice\n"
        "f = build('families', {'kind': 'invented_hops', 'paragraphs': 600})\n"
        "print(json.dumps([[q.to_json() for q in f.questions(0, 40, 7)], f.corpus().digest,"
        " [[d.id, d.title, d.text] for d in islice(f.corpus().documents(), 60)]]))"
    )
    made = [
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, cwd=REPO, timeout=60,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    ]  # fmt: skip
    questions, digest, documents = json.loads(made[0])
    assert made[0] == made[1]
    assert questions == [q.to_json() for q in SMALL.questions(0, 40, 7)] and digest == SMALL.corpus().digest
    assert documents == [[d.id, d.title, d.text] for d in islice(SMALL.corpus().documents(), 60)]


def test_the_corpus_is_known_by_its_parameters_alone_and_hashed_with_the_family():
    assert SMALL.corpus().digest == family(paragraphs=600, hops=[2], name="other").corpus().digest
    others = [family(paragraphs=601), family(paragraphs=600, world=1)]
    assert len({made.corpus().digest for made in [SMALL, *others]}) == 3
    assert SMALL.to_json()["libraries"]["corpus"] == SMALL.corpus().digest[:16]
    assert SMALL.corpus().count == len(list(SMALL.corpus().documents())) == 600


def test_another_world_has_other_names_and_facts():
    one, two = ({d.text for d in family(paragraphs=240, world=w).corpus().documents()} for w in (0, 1))
    assert not one & two


def test_gold_and_aliases_are_right_and_other_answers_are_not():
    questions = SMALL.questions(0, 60, seed=0)
    assert any(q.meta["aliases"] for q in questions) and not all(q.meta["aliases"] for q in questions)
    for question, other in zip(questions, questions[1:]):
        for answer in (question.answer, *question.meta["aliases"], f" The {question.answer}. "):
            assert SMALL.grade(answer, question)["em"] == 1.0
        if other.answer != question.answer:
            assert SMALL.grade(other.answer, question)["em"] == 0.0
    assert SMALL.grade_names() == ("em", "f1")


def test_a_world_that_is_too_small_or_hops_that_are_none_are_refused():
    for fields in ({"paragraphs": 239}, {"hops": []}, {"hops": [5]}):
        with pytest.raises(ValidationError):
            family(**fields)
    assert family(hops=3).hops == (3,)


def test_a_million_paragraphs_are_streamed_and_any_of_them_is_there_at_once():
    large = family(paragraphs=1_000_000)
    assert [d.id for d in islice(large.corpus().documents(), 3)] == ["p00000000", "p00000001", "p00000002"]
    last = text.document(World(1_000_000), 999_999)  # past the last group of twelve: a notice
    assert last.title and len(last.text.split()) >= text.LEAST
    assert len(large.questions(3_000_000, 3_000_002, seed=0)) == 2
