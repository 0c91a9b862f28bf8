"""Whatever stands in a spec, reading it ends in specs or in a SpecError: never in another exception."""

import copy
import os
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from hbench.spec import SpecError, load
from hbench.spec.check import check_all
from tests.spec.test_reader_properties import Plain, keys, values

SPEC = {
    "plan": "adaptation",
    "name": "s-${seed}",
    "let": {"n": 3},
    "family": {"kind": "toy", "name": "t"},
    "splits": {"feedback": 2, "scoring": "same_as_feedback", "evaluation": 4},
    "harness": "harnesses/one_call.py",
    "solver": {"weights": "embedded/tiny", "sampling": {"stop": ["a", "b"], "extra": {"min_p": 0.1}}},
    "proposer": {"kind": "weights", "weights": "w", "revision": "r", "prompt": "proposer/plain"},
    "report": {"prompt": "report/plain", "failures": "${let.n}"},
    "edit": {"kind": "search_replace"},
    "selection": {"kind": "strict_improvement"},
    "reward": {"parsed": {"weight": 0.1}, "no_change": "form_only"},
    "limits": {"calls": 3},
    "sweep": {"seed": [0, 1], "rounds, proposals": [[1, 2], [2, 1]]},
    "arms": {"one": {}, "two": {"reward": {"parsed": None}}},
    "machine": {"workers": 2, "models": {"tiny": {"base_url": "${oc.env:HB_NOT_SET,x}"}}},
}


def places(value, place=()):
    yield place
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inside:
        yield from places(item, (*place, key))


PLACES = [place for place in places(SPEC) if place]


@pytest.fixture(scope="module")
def folder():
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        for file, text in {
            "specs/harnesses/one_call.py": "def run(question, tools):\n    return tools.lm(question)\n",
            "prompts/proposer/plain.j2": "{# variables: report #}\n{{ report }}\n",
            "prompts/report/plain.j2": "{# variables: score #}\n{{ score }}\n",
        }.items():
            (Path(name) / file).parent.mkdir(parents=True, exist_ok=True)
            (Path(name) / file).write_text(text)
        os.chdir(name)
        yield Path(name)
        os.chdir(before)


def test_the_spec_that_is_spoilt_below_is_whole(folder):
    (folder / "specs/mine.yaml").write_text(yaml.dump(SPEC, Dumper=Plain))
    assert len(load("mine")) == 4


odd = st.sampled_from(["???", "${let.n}", "${.x}", "${", "${splits}", "${oc.env:HOME}", "toy", [], {}, [["a"]], {"kind": []}])


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.sampled_from(PLACES), values | odd, keys)
def test_a_value_of_any_sort_anywhere_is_a_spec_or_a_named_problem(folder, place, value, key):
    spoilt = copy.deepcopy(SPEC)
    holder = spoilt
    for part in place[:-1]:
        holder = holder[part]
    holder[place[-1]] = value
    if isinstance(holder, dict):
        holder.setdefault(key, value)
    (folder / "specs/mine.yaml").write_text(yaml.dump(spoilt, Dumper=Plain, sort_keys=False))
    try:
        load("mine")
    except SpecError as error:
        assert error.problems
        assert all(problem.mark.line > 0 for problem in error.problems)
    check_all()
