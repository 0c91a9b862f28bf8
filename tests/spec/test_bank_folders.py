"""A folder that a spec names as a bank or as guidance must be one: told where the spec is checked, not when it runs."""

import pytest
from pydantic import ValidationError

from hbench.spec.acting import GivenBank, GivenGuidance, ReviewBlock, TargetBlock
from hbench.spec.files import forget


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    forget()
    yield tmp_path
    forget()


def write(folder, name: str, files: dict[str, str]) -> str:
    for path, text in files.items():
        (folder / "specs" / name / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "specs" / name / path).write_text(text)
    return name


def test_a_folder_that_is_a_bank_is_taken_with_its_files(folder):
    name = write(folder, "banks/mine", {"memory.md": "Look first.\n", "skills/csv/SKILL.md": "Use awk.\n"})
    bank = GivenBank.model_validate({"kind": "given", "folder": name})
    assert bank.folder.files() == {"memory.md": "Look first.\n", "skills/csv/SKILL.md": "Use awk.\n"}


def test_a_folder_that_is_no_bank_is_refused_by_what_is_wrong(folder):
    name = write(folder, "banks/mine", {"tools/x.py": "print(1)\n", "notes.txt": "x\n"})
    with pytest.raises(ValidationError, match="banks/mine is no bank: notes.txt: a bank has tools/NAME.py"):
        GivenBank.model_validate({"kind": "given", "folder": name})


@pytest.mark.attack
@pytest.mark.parametrize(("sort", "block"), [("bank", GivenBank), ("guidance", GivenGuidance)])
def test_a_link_out_of_a_folder_is_refused_and_not_read(folder, sort, block):
    """It was read, and became what models are shown."""
    name = write(folder, f"{sort}/mine", {"skills/csv/SKILL.md": "Use awk.\n"})
    (folder / "secret").write_text("canary-77aa")
    (folder / "specs" / name / "memory.md").symlink_to(folder / "secret")
    with pytest.raises(ValidationError, match=f"{name} cannot be taken: memory.md is a link") as refused:
        block.model_validate({"kind": "given", "folder": name})
    assert "canary-77aa" not in str(refused.value)


def test_a_bank_is_no_guidance(folder):
    name = write(folder, "guidance/mine", {"memory.md": "Look first.\n"})
    with pytest.raises(ValidationError, match="guidance/mine is no guidance: memory.md"):
        GivenGuidance.model_validate({"kind": "given", "folder": name})


def test_where_checks_call_the_reviewer_the_guidance_must_have_some(folder):
    """Without any, no turn is reviewed: the arm would be the base under another name."""
    name = write(folder, "guidance/mine", {"patterns.md": "Look first.\n"})
    block = {"reviewer": {"kind": "rules", "name": "files_expert"}, "guidance": {"kind": "given", "folder": name}}
    with pytest.raises(ValidationError, match="guidance/mine has none: no turn would be reviewed"):
        ReviewBlock.model_validate({**block, "when": {"kind": "checks"}})
    assert ReviewBlock.model_validate(block).when.kind == "always"


def test_no_observation_is_longer_than_a_workspace_gives():
    """A larger number passed the check of the spec, and was an error of the first command."""
    with pytest.raises(ValidationError, match="less than or equal to 1000000"):
        TargetBlock.model_validate({"observation_chars": 1_000_001})


def test_a_prompt_must_show_what_the_arm_is_about(folder):
    """An arm whose prompt is silent about its guidance, its right answer or its agents is not what it is called."""
    silent = folder / "prompts/reviewer/silent.j2"
    silent.parent.mkdir(parents=True)
    silent.write_text("{# variables: tools, budget #}\n{% block system %}\n{{ tools }} {{ budget }}\n{% endblock %}\n")
    block = {"reviewer": {"kind": "rules", "name": "files_expert"}, "prompt": "reviewer/silent"}
    given = {"kind": "given", "folder": write(folder, "guidance/mine", {"patterns.md": "Look first.\n"})}
    with pytest.raises(ValidationError, match="reviewer/silent does not show the guidance"):
        ReviewBlock.model_validate({**block, "guidance": given})
    with pytest.raises(ValidationError, match="reviewer/silent does not show the right answer"):
        ReviewBlock.model_validate({**block, "oracle": True})
    with pytest.raises(ValidationError, match="student/files does not tell of the command"):
        TargetBlock.model_validate({"prompt": "student/files", "agent": True})
