"""An exhibit made from a bundle is the one made from the results that it was exported from."""

from pathlib import Path

import pytest

from hbench.core.failure import HbenchError
from hbench.exhibits.exhibit import regenerate
from hbench.exhibits.publish import Terms, publish
from hbench.spec import load
from tests.exhibits.test_regenerate import SPEC, put, study

pytestmark = pytest.mark.truth


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder whose results hold specs/mine.yaml, published as the bundle mini, and no other results."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/mine.yaml").write_text(SPEC)
    put(tmp_path / "other", study(load("mine")))
    publish(tmp_path / "other", ["mine"], "mini", Terms(with_questions=True))
    (tmp_path / "results").mkdir()
    (tmp_path / "other/published").rename(tmp_path / "results/published")
    return tmp_path


def test_it_is_the_same_table(folder):
    here = regenerate("proposal_quality", folder / "other", ["mine"])
    there = regenerate("proposal_quality", folder / "results", ["mine"], "mini")
    assert there.cells == here.cells and there.cells
    assert there.caption[:-1] == here.caption
    assert there.caption[-1].startswith("From the bundle mini of 20")


def test_a_bundle_answers_however_its_specs_read_today(folder):
    before = regenerate("proposal_quality", folder / "results", ["mine"], "mini")
    (folder / "specs/mine.yaml").unlink()
    after = regenerate("proposal_quality", folder / "results", ["specs/mine.yaml"], "mini")
    assert after.cells == before.cells


@pytest.mark.parametrize("name", ["published/mini", "published/mini mine", "mine"])
def test_an_exhibit_may_name_a_bundle_under_from(folder, name):
    from hbench.exhibits import exhibit

    block, sql = exhibit.read("proposal_quality")
    own = block.model_copy(update={"from_": [name]})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exhibit, "read", lambda _: (own, sql))
        made = regenerate("own", folder / "results", bundle=None if name.startswith("published/") else "mini")
    assert next(c.value for c in made.cells if (c.row, c.column) == ("independent", "score")) == 0.75


def test_rows_come_from_one_place(folder):
    with pytest.raises(HbenchError, match="from one bundle, or from the results folder, not from both"):
        regenerate("proposal_quality", folder / "results", ["published/mini", "mine"])


def test_what_a_bundle_lacks_is_told(folder):
    with pytest.raises(HbenchError, match="holds no quickstart; it holds mine"):
        regenerate("proposal_quality", folder / "results", ["quickstart"], "mini")
    told = regenerate("proposal_quality", folder / "results", ["mine", "quickstart"], "mini").caption[-1]
    assert told.endswith("; it lacks quickstart.")
    with pytest.raises(HbenchError, match=r"no bundle 'maxi' under .*results/published \(there are: mini"):
        regenerate("proposal_quality", folder / "results", ["mine"], "maxi")


def test_the_caption_says_what_was_left_out(folder):
    publish(folder / "other", ["mine"], "small", Terms(frozenset({"events"}), with_questions=True))
    made = regenerate("proposal_quality", folder / "other", ["published/small"])
    assert made.caption[-1].endswith("), without events.")


def test_a_bundle_that_an_exhibit_names_and_that_is_not_here_leaves_its_specs_missing(folder):
    made = regenerate("proposal_quality", folder / "results", ["published/maxi mine"])
    assert all(cell.value is None for cell in made.cells) and [row.spec for row in made.behind] == ["mine", "mine"]
    assert "mine: no finished run; `hbench run mine` fills seed, independent." in made.caption
    assert made.caption[-1] == "published/maxi is not here."
