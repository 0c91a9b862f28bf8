"""Many exhibits written one after another, their figures by a process of their own."""

import pytest

from hbench.core.failure import HbenchError
from hbench.exhibits.every import write_every
from hbench.exhibits.render import write
from tests.exhibits.test_index import exhibit


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_what_is_drawn_apart_is_what_is_drawn_here(tmp_path):
    made = [exhibit(), exhibit("table10")]
    assert list(write_every(made, tmp_path / "apart")) == made
    for each in made:
        write(each, tmp_path / "here")
    assert contents(tmp_path / "apart") == contents(tmp_path / "here")


def test_those_before_one_that_cannot_be_made_are_written_whole(tmp_path):
    def exhibits():
        yield exhibit()
        raise HbenchError("exhibits/table10.sql: no such column")

    with pytest.raises(HbenchError, match="no such column"):
        list(write_every(exhibits(), tmp_path))
    assert {"table9.md", "table9.svg", "table9.png"} <= set(contents(tmp_path))


def test_a_figure_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "table9.svg").mkdir()
    with pytest.raises(IsADirectoryError):
        list(write_every([exhibit()], tmp_path))
