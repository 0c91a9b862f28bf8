import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder of one's own, in which published layouts are laid out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path / "data"))
    (tmp_path / "data" / "spreadsheet").mkdir(parents=True)
    return tmp_path / "data" / "spreadsheet"
