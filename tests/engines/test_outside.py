"""Programs of somebody else's: their own folder, a clean environment, and an end."""

import sys

import pytest

from hbench.core.failure import StepError
from hbench.engines.outside import run_outside


def python(code: str, folder, **setting):
    return run_outside([sys.executable, "-c", code], folder, setting.pop("wall_s", 30.0), **setting)


def test_a_program_runs_in_its_folder_and_gives_both_streams(tmp_path):
    done = python("import os, sys; print(os.getcwd()); print('told', file=sys.stderr); sys.exit(3)", tmp_path)
    assert (done.code, done.stdout.strip(), done.stderr.strip()) == (3, str(tmp_path), "told")


def test_its_environment_is_clean_but_for_what_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "secret")
    monkeypatch.setenv("NAMED", "given")
    done = python("import os; print(sorted(os.environ))", tmp_path, names=["NAMED", "NOT_SET"])
    assert "NAMED" in done.stdout and "SOME_KEY" not in done.stdout and "NOT_SET" not in done.stdout


def test_words_are_no_shell_string(tmp_path):
    done = run_outside(["echo", "$HOME; ls *"], tmp_path, 30.0)
    assert done.stdout == "$HOME; ls *\n"


def test_at_the_time_limit_it_and_its_children_end(tmp_path):
    """The child holds the pipe open: were it left alive, reading to the end would not come back."""
    code = "import subprocess, sys, time; print('begun', flush=True); subprocess.run(['sleep', '60'])"
    done = python(code, tmp_path, wall_s=1.0)
    assert (done.code, done.stdout) == (None, "begun\n")


def test_what_looks_can_end_it(tmp_path):
    class Stop(Exception):
        pass

    def look():
        raise Stop

    with pytest.raises(Stop):
        python("import time; time.sleep(60)", tmp_path, look=look)


def test_a_long_stream_keeps_its_two_ends(tmp_path):
    done = python("print('first'); print('x' * 3_000_000); print('last')", tmp_path)
    assert done.stdout.startswith("first\n") and done.stdout.endswith("last\n") and len(done.stdout) < 500_000


def test_a_program_that_is_not_there_is_an_error_of_the_step(tmp_path):
    with pytest.raises(StepError, match="no-such-program cannot be started"):
        run_outside(["no-such-program"], tmp_path, 1.0)
