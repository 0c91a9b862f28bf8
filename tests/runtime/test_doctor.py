"""What `hbench doctor` says of what domains need, and what to do about it."""

from hbench.runtime.doctor import _appworld


def test_appworld_is_told_with_its_tasks_and_what_to_do_without(tmp_path, monkeypatch):
    """It was named nowhere but in the step that failed without it."""
    monkeypatch.delenv("APPWORLD_ROOT", raising=False)
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HBENCH_APPWORLD", str(tmp_path))
    assert (_appworld().found, _appworld().advice) == ("absent", "only for the domain appworld: make appworld")
    for folder in ("bin", "lib/python3.11/site-packages/appworld-0.1.3.dist-info"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "bin/python").touch()
    (tmp_path / "lib/python3.11/site-packages/appworld-0.1.3.dist-info/METADATA").write_text("Name: appworld\nVersion: 0.1.3\n")
    assert _appworld().found == "0.1.3, home-made tasks alone" and "appworld download data" in _appworld().advice
    (tmp_path / "data/appworld/data/tasks").mkdir(parents=True)
    assert _appworld().found.endswith("published tasks in " + str(tmp_path / "data/appworld")) and _appworld().advice == ""
