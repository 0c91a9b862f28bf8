"""One run of the toy family for all tests of the page, and the page over it."""

import pytest

from tests.view.served import served
from tests.view.told import put_told
from tests.world import make_world


@pytest.fixture(scope="session")
def toy(tmp_path_factory):
    """A results folder with one finished run: adaptation in rounds, independent proposals, a fixed harness."""
    world = make_world(tmp_path_factory.mktemp("toy"))
    world.hbench("run", "toy", "-q")
    return world.folder / "results"


@pytest.fixture(scope="session")
def toy_page(toy):
    with served(toy) as page:
        yield page


@pytest.fixture(scope="session")
def told_folder(tmp_path_factory):
    """A results folder made by hand, with hostile texts: see told.py."""
    return put_told(tmp_path_factory.mktemp("told"))


@pytest.fixture(scope="session")
def told_page(told_folder):
    with served(told_folder) as page:
        yield page
