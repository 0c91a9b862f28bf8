"""A folder is known by what its files hold, not by what is said about it."""

from pathlib import Path

import pytest

from hbench.core.folder_digest import folder_digest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "adapter"
    (made / "deep").mkdir(parents=True)
    (made / "weights.bin").write_bytes(b"\0\1\2")
    (made / "deep/config.json").write_text("{}")
    return made


def test_a_copy_elsewhere_is_the_same(folder, tmp_path):
    import shutil

    shutil.copytree(folder, tmp_path / "copy")
    assert folder_digest(tmp_path / "copy") == folder_digest(folder)


def test_a_card_about_a_model_is_no_part_of_it(folder):
    plain = folder_digest(folder)
    (folder / "README.md").write_text("an adapter")
    (folder / "checkpoint.json").write_text("{}")
    assert folder_digest(folder) == plain
    (folder / "deep/README.md").write_text("a file of the model's own")
    assert folder_digest(folder) != plain


@pytest.mark.parametrize("change", ["byte", "name", "place"])
def test_every_byte_name_and_place_counts(folder, change):
    plain, file = folder_digest(folder), folder / "weights.bin"
    if change == "byte":
        file.write_bytes(b"\0\1\3")
    else:
        file.rename(folder / ("other.bin" if change == "name" else "deep/weights.bin"))
    assert folder_digest(folder) != plain
