"""What README says of the laptop-size study of distillation, from its bundle."""

from contextlib import closing

import pytest

from hbench.exhibits.bundled import bundle_folder, bundle_sources
from hbench.exhibits.exhibit import read, regenerate_from
from hbench.store.bundle import open_bundle
from tests.where import REPO

pytestmark = pytest.mark.truth


@pytest.fixture(scope="module")
def cells():
    """(row, column) -> the cell."""
    folder = bundle_folder("mini_distil", REPO / "results")
    block, sql = read("mini_distil")
    with closing(open_bundle(folder)) as connection:
        from hbench.exhibits.sources import count_newest_runs

        count_newest_runs(connection)
        made = regenerate_from(connection, ("mini_distil", block, sql), bundle_sources(folder, block.from_))
    return {(cell.row, cell.column): cell for cell in made.cells}


@pytest.mark.parametrize("arm", ["distilled", "direct"])
def test_the_trained_student_is_thirty_points_above_its_base_under_plain_h(cells, arm):
    gain = cells[f"files_held_out / {arm}", "difference"]
    assert gain.value >= 0.3 and gain.low > 0 and gain.n == 85
    assert cells["files_held_out / base", "score"].value == 0


def test_kinds_of_job_that_were_never_trained_on_stay_unsolved(cells):
    assert cells["files_new / distilled", "score"].value < 0.05 > cells["files_new / direct", "score"].value


def test_the_reviewer_replaces_nearly_every_turn_at_first_and_few_at_last(cells):
    assert cells["files, collected / distilled", "replaced"].value > 0.95
    assert cells["files_held_out / distilled_reviewed", "replaced"].value < 0.15
