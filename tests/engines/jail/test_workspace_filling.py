"""Commands that fill memory, disk and output, and are held to what they have."""

import psutil
import pytest

from tests.engines.jail.lab import CONFINED, echo, shell

pytestmark = pytest.mark.attack

CONFINED_ONLY = pytest.mark.parametrize("sandbox", CONFINED)

EAT = "x = bytearray(400 << 20); print(len(x))"


@CONFINED_ONLY
def test_memory_is_limited(sandbox):
    (ran,) = shell(sandbox, f"python3 -c '{EAT}'")
    assert "MemoryError" in ran.output and ran.code == 1


@pytest.mark.control
def test_control_with_room_the_memory_could_be_had():
    assert shell("none", f"python3 -c '{EAT}'", memory_mb=1000)[0].output == f"{400 << 20}\n"


@pytest.mark.parametrize("folder", ["$HOME", "/tmp", "/dev/shm"])
def test_the_disk_can_be_filled_for_oneself_alone(folder):
    fill, again = f"head -c 40M /dev/zero > {folder}/big", f"rm {folder}/big; echo fine > {folder}/x; cat {folder}/x"
    ran, after = shell("namespaces", fill, again)
    assert "No space left" in ran.output or "File size limit" in ran.output or ran.code != 0
    assert after.output == "fine\n"


def test_many_files_fill_it_too():
    ran, after = shell("namespaces", "seq 10000 | xargs touch", "rm -f 1*; echo fine > x; cat x", disk_mb=64)
    assert "No space left" in ran.output and after.output == "fine\n"


@pytest.mark.parametrize("folder", ["$HOME", "$TMPDIR", "$CALLS"])
def test_on_disk_a_command_that_fills_it_is_ended(folder):
    fill = f"cd {folder}; i=0; while true; do head -c 1M /dev/zero > f$i; i=$((i+1)); done"
    clean = f"rm -f {folder.replace('$CALLS', '$CALLS/../*')}/f*; echo fine > x; cat x"
    ran, after = shell("landlock", fill, clean, disk_mb=8, timeout_s=20.0, commands=("agent",), called=echo)
    assert ran.code not in (0, None) and "no space left" in ran.output and after.output == "fine\n"


def test_on_disk_what_a_command_left_is_not_the_doing_of_the_next():
    """A quick command that left too much was never looked at, and the next one, which added nothing, was ended for it."""
    spoil, wait = "cd $CALLS; seq 5000 | xargs touch", "sleep 1.5; echo fine"
    _, after = shell("landlock", spoil, wait, disk_mb=8, timeout_s=20.0, commands=("agent",), called=echo)
    assert after.output == "fine\n" and after.code == 0


def test_on_disk_files_without_number_do_not_hide_what_else_fills_it():
    """Counting ends among them, and nothing beyond is seen to grow: whoever runs then is ended."""
    hide = "cd $CALLS; seq 4500 | xargs touch"
    fill = "cd $HOME; i=0; while true; do head -c 1M /dev/zero > f$i; i=$((i+1)); sleep .05; done"
    *_, ran = shell("landlock", hide, hide, fill, fill, disk_mb=8, timeout_s=20.0, commands=("agent",), called=echo)
    assert ran.code not in (0, None) and "no space left" in ran.output


@CONFINED_ONLY
@pytest.mark.parametrize("flood", ["yes", "yes >&2", "cat /dev/zero", "while true; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxx; done"])
def test_huge_output_is_held_to_its_size(sandbox, flood):
    before = psutil.Process().memory_info().rss
    ran, after = shell(sandbox, flood, "echo fine", output_chars=1000, timeout_s=5.0)
    assert 1000 < len(ran.output) < 1100 and "characters left out" in ran.output
    assert after.output == "fine\n" and psutil.Process().memory_info().rss - before < 50 << 20


@CONFINED_ONLY
@pytest.mark.control
def test_control_what_fits_stays_and_is_shown_whole(sandbox):
    fill = "head -c 4M /dev/zero > big; for i in $(seq 100); do : > $i; done; ls | wc -l"
    ran, said = shell(sandbox, fill, "seq 200", output_chars=1000)
    assert (ran.output, ran.code) == ("101\n", 0) and said.output.splitlines() == [str(n) for n in range(1, 201)]
