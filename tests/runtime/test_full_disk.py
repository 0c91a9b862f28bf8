"""A results folder on a disk that fills, first at the first write and then a little later each time: nothing is lost or wrong."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.store.made import contents
from tests.thorough import often
from tests.where import REPO
from tests.world import make_world

pytestmark = [pytest.mark.fault, pytest.mark.long]
OWN_MOUNTS = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--map-root-user", "--mount"]


def own_mounts() -> list[str]:
    """What begins a command with mounts of its own; skips where nobody may have any."""
    if not shutil.which("unshare") or subprocess.run([*OWN_MOUNTS, "true"], capture_output=True).returncode:
        pytest.skip("no mount namespaces here: a small tmpfs needs root, or a user namespace")
    return OWN_MOUNTS


LIMITS = {"size": often(1 << 16, 1 << 15), "nr_inodes": often(40, 10)}


@pytest.mark.parametrize(("limit", "more"), LIMITS.items(), ids=["size", "files"])
def test_a_run_on_a_disk_that_fills_says_so_and_ends_with_the_tables_of_one_left_alone(tmp_path, tried, limit, more):
    world = make_world(tmp_path)
    command = [*own_mounts(), sys.executable, "-m", "tests.runtime.full_disk", str(world.folder), limit, str(more)]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    for place, code, said in made["tries"][:-1]:
        tried(f"a disk with {limit}={place}")
        assert "No space left on device" in said and "Traceback" not in said, (place, said)
        assert code in (0, 1, 2) and ("same command" in said or code == 0), (place, code, said)
    print(f"\n{limit}: {len(made['tries'])} tries")
    assert len(made["tries"]) > 4 and made["tries"][-1][1] == 0, made["tries"][-1]
    world.hbench("run", "specs/toy.yaml", "-q", "--results", "alone")
    alone = json.loads(json.dumps(contents(world.folder / "alone"), default=str))
    for name, rows in made["rows"].items():
        assert rows == alone[name], name
    assert made["rows"]["rollouts"] and made["rows"]["selections"]
