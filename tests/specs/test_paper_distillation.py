"""The specs of Harness-Zero's size: they compile wherever they are read, and hold what the paper tells."""

from functools import cache

import pytest

from hbench.core.action import EXECUTE, Action
from hbench.core.failure import HbenchError
from hbench.core.training import Talk
from hbench.engines.mask import Chat
from hbench.exhibits.exhibit import names, read
from hbench.parts.part import build
from hbench.plan import compile
from hbench.spec import SpecError, check_files, load
from tests.engines.test_mask_turns import TOOLS, chat_of
from tests.where import REPO

DOMAINS = ("spreadsheet", "appworld", "uspto")
FREE = ("base", "h_star", "generic", "guided", "oracle", "selective")
TAUGHT = ("distilled", "oracle_taught", "direct")
ASKED = {"spreadsheet": (300, 100), "appworld": (147, 168), "uspto": (500, 100)}  # training, evaluation


@cache
def spec(name):
    (found,) = load(f"distillation/{name}")
    return found


@cache
def plan(name):
    return compile(spec(name))


def steps(name, arm, *kinds):
    """The arm's steps of those kinds, in order, each with its label."""
    found = {step.id: step for step in plan(name).steps}
    labels = [label for label in plan(name).labels if label.arm == arm and found[label.step_id].kind in kinds]
    return [(label, found[label.step_id]) for label in labels]


def the_one(name, arm, purpose):
    (step,) = [step for label, step in steps(name, arm, "act", "train_sft", "keep_trajectories") if label.purpose == purpose]
    return step


def test_every_file_of_this_size_holds():
    files = [*(REPO / "specs" / "models").glob("*.yaml"), *(REPO / "specs" / "domains").glob("*.yaml")]
    files += [f for f in (REPO / "specs" / "distillation").glob("*.yaml") if not f.stem.startswith(("mini", "smoke"))]
    assert check_files(files, compile).problems == ()


@pytest.mark.parametrize("name", DOMAINS)
def test_each_domain_has_the_arms_of_the_papers_tables(name):
    assert set((*FREE, "base_again", *TAUGHT)) <= set(spec(name).arms)
    assert ("success_only" in spec(name).arms) == (name == "uspto")
    asked = {label.purpose: step.params["sizes"] for label, step in steps(name, "distilled", "split")}
    assert {tuple(sizes.values()) for sizes in asked.values()} == {ASKED[name]}


@pytest.mark.parametrize("name", DOMAINS)
def test_students_are_trained_by_the_papers_recipe(name):
    for arm in TAUGHT:
        recipe = the_one(name, arm, "train_sft").params["recipe"]
        assert (recipe["lora"]["rank"], recipe["epochs"], recipe["batch"], recipe["seed"]) == (32, 2, 8, 42)
        assert (recipe["learning_rate"], recipe["max_length"], recipe["schedule"]) == (2e-4, 65536, "linear")
        assert recipe["learning_rate"] * recipe["floor"] == pytest.approx(1e-6)
    target = the_one(name, "distilled", "held_out").params["target"]
    assert target["turns"] == 40


def test_all_arms_with_the_guidance_share_one_bank_of_three_rounds():
    evolved = {step.id for _, step in steps("uspto", "h_star", "evolve")}
    assert len(evolved) == 3 == len({step.id for step in plan("uspto").steps if step.kind == "evolve"})
    (written,) = [step for step in plan("uspto").steps if step.kind == "guidance"]
    for arm in ("guided", "selective"):
        assert the_one("uspto", arm, "held_out").parents()["guidance"].id == written.id
    assert the_one("uspto", "distilled", "collect").parents()["guidance"].id == written.id
    assert "guidance" not in the_one("uspto", "generic", "held_out").parents()


def test_a_trained_student_is_measured_under_plain_h_alone():
    for arm in TAUGHT:
        measured = the_one("uspto", arm, "held_out")
        assert measured.params["review"] is None and not {"bank", "guidance"} & set(measured.parents())


@pytest.mark.parametrize("name", DOMAINS)
def test_a_reviewed_session_of_the_student_can_be_trained(name):
    """Its own chat template makes it think, which no replacement does: each session that had one was left out."""
    pytest.importorskip("transformers")
    student, target = (the_one(name, "distilled", "collect").params[key] for key in ("student", "target"))
    call = build("calls", target["call"])
    said = [call.write(Action(EXECUTE, {"command": "ls"}, beside)) for beside in ("", "I look again.")]
    roles = ("system", "user", "assistant", call.observation("").role, "assistant", call.observation("").role, "assistant")
    told = zip(roles, ("You work in a shell.", "Do it.", said[0], "a.txt", said[1], "a.txt", "Done."), strict=True)
    talk = Talk([{"role": role, "content": content} for role, content in told], [2, 4, 6], tools=TOOLS)
    shipped = chat_of("qwen3_5_think")  # that of Qwen3.5-4B and larger
    (row,) = Chat(shipped.tokenizer, shipped.ends, student["sampling"]["extra"].get("chat_template_kwargs", {})).talk(talk)
    assert set(row.places) == {-1, 2, 4, 6}


def test_direct_learns_from_the_teacher_with_its_tools_and_the_others_from_the_student():
    direct, distilled = (the_one("uspto", arm, "collect") for arm in ("direct", "distilled"))
    assert direct.params["student"]["identity"]["weights"] == "gpt-5.6-sol" and "bank" in direct.parents()
    assert distilled.params["student"]["identity"]["weights"] == "Qwen/Qwen3.5-9B" and "bank" not in distilled.parents()
    assert the_one("uspto", "oracle_taught", "collect").params["review"]["oracle"] is True
    kept = {arm: [f["kind"] for f in the_one("uspto", arm, "keep_trajectories").params["filters"]] for arm in ("direct", "distilled", "success_only")}
    assert "tool_names" not in kept["direct"] and "tool_names" in kept["distilled"]
    assert "succeeded" in kept["success_only"] and "succeeded" not in kept["distilled"]


def test_the_control_is_the_base_on_the_same_questions_with_other_draws():
    base, again = (the_one("uspto", arm, "held_out") for arm in ("base", "base_again"))
    assert base.params["seed"] != again.params["seed"] and base.params["student"]["sampling"]["temperature"] > 0
    assert {**base.params, "seed": 0} == {**again.params, "seed": 0}
    assert base.parents()["questions"].id == again.parents()["questions"].id


@pytest.mark.parametrize("name", [f"{model}_{domain}" for model in ("sol", "deepseek") for domain in DOMAINS] + ["weak_uspto"])
def test_training_free_specs_have_one_model_as_student_and_reviewer(name):
    assert tuple(spec(name).arms) == FREE and not any(step.kind == "train_sft" for step in plan(name).steps)
    acted = the_one(name, "guided", "held_out")
    assert acted.params["student"]["identity"] == acted.params["review"]["reviewer"]["identity"]


def test_domains_taught_together_have_guidance_of_their_own_and_one_adapter():
    taught = [(label, step) for label, step in steps("joint", "joint", "act") if label.purpose == "collect"]
    assert {step.params["domain"]["kind"] for _, step in taught} == set(DOMAINS)
    assert len({step.parents()["guidance"].id for _, step in taught}) == 3
    for _, step in taught:
        bank = step.parents()["guidance"].parents()["bank"]
        assert bank.params["domain"]["name"] == step.params["domain"]["kind"]
    assert len([step for step in plan("joint").steps if step.kind == "train_sft"]) == 1


def test_domains_measured_together_have_the_sizes_that_they_have_alone():
    for label, step in steps("joint", "joint", "split"):
        assert tuple(step.params["sizes"].values()) == ASKED[label.family], label.family
    for domain in DOMAINS:
        alone = the_one(domain, "base", "held_out")
        assert alone.id in {step.id for _, step in steps("joint", "base", "act")}, f"{domain}: run once for both"


def test_sizes_of_a_domain_that_is_not_there_are_refused(tmp_path):
    (tmp_path / "joint.yaml").write_text("plan: distillation\nextends: distillation/joint\nsplits: {of: {uspot: {training: 1, evaluation: 1}}}\n")
    with pytest.raises(SpecError, match="there is no domain uspot"):
        load(tmp_path / "joint.yaml")


@pytest.mark.parametrize("name", [n for n in names() if n.startswith("distil_")])
def test_an_exhibit_of_the_paper_reads_specs_that_are_there_and_names_their_arms(name):
    block, _ = read(name)
    has = {arm for spec in block.from_ for arm in load(spec)[0].arms}
    rows = {row.split(" / ")[-1] for row in block.paper}
    # Other agents are the paper's; ours is given as a command.
    assert rows | set(block.arms) <= has | {"deepagents", "claude_code", "outside"}
    assert block.baseline in {None, *has}


def test_no_data_are_needed_to_plan(monkeypatch, tmp_path):
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path))
    for name in (*DOMAINS, "joint"):
        try:
            assert compile(load(f"distillation/{name}")[0]).steps
        except HbenchError as error:
            pytest.fail(str(error))
