"""`hbench view` as it is started."""

import signal
import socket
import subprocess
import sys
import urllib.request

import pytest

from tests.world import World

BARS = "__import__('hbench.store.parquet').store.parquet.memory().execute('select current_setting($$enable_progress_bar$$)').fetchone()[0]"


def test_a_port_that_is_taken_is_told_with_what_to_do(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = World(tmp_path).hbench("view", "--port", str(taken.getsockname()[1]), check=False)
    assert done.returncode == 2 and "is taken" in done.stderr and "--port 0 takes a free one" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_bundle_that_is_none_is_told(tmp_path):
    done = World(tmp_path).hbench("view", "--bundle", "nobody", check=False)
    assert done.returncode == 2 and "no bundle 'nobody'" in done.stderr


def test_without_its_libraries_it_says_what_to_install(tmp_path):
    code = "import sys; sys.modules['starlette'] = None; from hbench.cli import main; sys.argv = ['hbench', 'view']; main()"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "pip install 'hbench[view]'" in done.stderr


def test_a_script_that_serves_when_it_is_loaded_is_not_loaded_by_the_pages_processes(tmp_path):
    """They used to load it, and with it to serve anew: what finished was then never folded in."""
    script = tmp_path / "look.py"
    script.write_text("from hbench.view.processes import apart\nprint('loaded', apart(abs, -1), apart(eval, BARS))\n".replace("BARS", repr(BARS)))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    assert done.stdout == "loaded 1 False\n", done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM])
def test_it_says_where_it_is_answers_there_and_ends_when_told(toy, word):
    running = subprocess.Popen(
        [sys.executable, "-m", "hbench", "view", "--results", str(toy), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    address = running.stdout.readline().split()[0]
    assert address.startswith("http://127.0.0.1:")
    assert "toy" in urllib.request.urlopen(address, timeout=60).read().decode()
    running.send_signal(word)
    told = running.communicate(timeout=60)
    assert "Traceback" not in told[1], told[1]
