"""Parts: what a plan keeps of them is enough to build them again."""

import pickle
import sys

import pytest

from hbench.parts.part import SORTS, build, find, kinds

EXAMPLES = {
    "families/reasoning_gym": {"name": "maze", "format": "varied"},
    "families/multihop_qa": {"name": "hotpotqa", "source": "hub"},
    "families/practice": {"name": "sum_list"},
    "detectors/all_of": {"detectors": [{"kind": "tool_called", "names": ["look"]}]},
    "families/lm_eval": {"name": "letters"},
    "families/output_grammar": {"family": {"kind": "toy"}},
    "detectors/any_of": {"detectors": [{"kind": "command_matches", "pattern": "^cat"}]},
    "detectors/answer_matches": {"pattern": "done"},
    "detectors/checked_before_answer": {"checks": "^cat"},
    "detectors/command_matches": {"pattern": ["python", "rdkit"]},
    "detectors/observed_then": {"first": "^ls", "then": "^cat"},
    "detectors/read_before_write": {"reads": "^cat", "writes": ">"},
    "detectors/tool_called": {"names": ["look"]},
}


@pytest.mark.parametrize("where", [f"{sort}/{kind}" for sort in SORTS for kind in kinds(sort)])
def test_a_part_is_built_again_from_its_json(where):
    """The name of one field, `source`, was also used for something else: the field was lost and other data were asked."""
    sort, kind = where.split("/")
    part = find(sort, kind).model_validate({"kind": kind, **EXAMPLES.get(where, {})})
    assert build(sort, part.to_json()) == part


def test_a_part_of_ones_own_reaches_another_process(tmp_path, monkeypatch):
    """Its file is no module that the other process could import."""
    (tmp_path / "parts/families").mkdir(parents=True)
    own = "from typing import Literal\nfrom hbench.parts.part import Part\nclass Own(Part):\n    kind: Literal['own']\n    size: int = 1\n"
    (tmp_path / "parts/families/own.py").write_text(own)
    monkeypatch.chdir(tmp_path)
    sent = pickle.dumps(find("families", "own")(kind="own", size=3))
    del sys.modules["hbench_parts_families_own"]
    find.cache_clear()
    assert pickle.loads(sent).size == 3
    find.cache_clear()


def test_an_unknown_kind_is_a_key_error():
    with pytest.raises(KeyError):
        find("families", "nothere")
