"""`hbench new` writes a spec that checks as it is, and writes over nothing."""

import re
from pathlib import Path

import pytest

from hbench.core.failure import HbenchError
from hbench.plan import compile
from hbench.spec import check_files, load
from hbench.spec.plans import PLANS
from hbench.spec.starts import write_start


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch) -> Path:
    """An empty working folder: all else is what ships."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("plan", PLANS)
def test_a_starting_spec_checks_and_compiles_as_it_is(plan):
    file = write_start(plan)
    assert file == Path(f"specs/my_{plan}.yaml") and check_files([file], compile).problems == ()
    (spec,) = load(file)
    assert (spec.plan, spec.name) == (plan, f"my_{plan}") and len(spec.arms) > 1


@pytest.mark.parametrize("plan", PLANS)
def test_its_models_are_those_that_come_with_hbench(plan):
    """It runs on any machine, with no download, key or server."""
    (spec,) = load(write_start(plan))
    weights = {ref.identity.get("weights") for block in spec.arms.values() for ref in block.models()}
    assert weights <= {"embedded/smollm2-135m-instruct", None} and "embedded/smollm2-135m-instruct" in weights


@pytest.mark.parametrize("plan", PLANS)
def test_what_is_commented_out_could_be_commented_in(plan):
    """Each block of commented-out YAML, in place of the keys that it names, leaves a spec that checks."""
    text = write_start(plan).read_text()
    blocks = re.findall(r"(?:^# (?:\w+:.*|  .*)\n)+", text, re.M)
    for block in blocks:
        yaml = re.sub(r"^# ", "", block, flags=re.M)
        keys = re.findall(r"^(\w+):", yaml, re.M)
        kept = re.sub(rf"^(?:{'|'.join(keys)}):.*\n(?:[ #].*\n)*", "", text.replace(block, ""), flags=re.M)
        Path("specs/more.yaml").write_text(kept + yaml)
        assert check_files(["specs/more.yaml"], compile).problems == (), yaml


def test_a_name_may_hold_folders_and_its_first_line_finds_the_schema():
    assert write_start("adaptation", "mine/first").read_text().startswith("# yaml-language-server: $schema=../schema/experiment.json")
    assert write_start("adaptation", "specs/plain.yaml").read_text().startswith("# yaml-language-server: $schema=schema/experiment.json")


def test_nothing_is_written_over(scratch):
    file = write_start("adaptation", "mine")
    file.write_text("a week of work")
    with pytest.raises(HbenchError, match="specs/mine.yaml is there already: give another name"):
        write_start("training", "mine")
    assert file.read_text() == "a week of work"


@pytest.mark.parametrize("name", ["base", "quickstart", "training/mini", "new/adaptation"])
def test_a_spec_that_ships_is_not_hidden(scratch, name):
    with pytest.raises(HbenchError, match=f"{name} is a spec that comes with hbench"):
        write_start("adaptation", name)
    assert not (scratch / "specs").exists()


@pytest.mark.parametrize("name", ["../mine", "/tmp/mine", "a b", "mine.yml", "", "a//b", "mine$"])
def test_a_name_leads_nowhere_else(scratch, name):
    with pytest.raises(HbenchError, match="is no name for a spec"):
        write_start("adaptation", name or " ")
    assert not (scratch / "specs").exists()


def test_another_plan_is_told():
    with pytest.raises(HbenchError, match="there is no plan 'adaption' .did you mean 'adaptation'"):
        write_start("adaption")
