"""Two arms against each other, from a results folder and from the committed study."""

from dataclasses import replace
from pathlib import Path

import pytest

from hbench.core.failure import HbenchError
from hbench.exhibits.compare import Options, compare
from hbench.exhibits.exhibit import regenerate
from hbench.exhibits.publish import Terms, publish
from hbench.exhibits.significance import holm
from hbench.spec import load
from tests.exhibits.study import Point
from tests.exhibits.test_regenerate import SPEC, put, study

pytestmark = pytest.mark.truth
UNSEEN = "published/mini training/mini_unseen"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A results folder beside specs/mine.yaml, in which nothing has been run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/mine.yaml").write_text(SPEC)
    return tmp_path / "results"


def graded(arm, spec, right, questions=8):
    """An arm of a spec whose first `right` held-out questions are right."""
    family = spec.arms["seed"].family.name
    held = {f"{family}/{i}": (float(i < right), float(i < right)) for i in range(questions)}
    return Point(arm, family, 0, {}, held, spec=spec.digest)


def put_arms(folder, specs, **right):
    put(folder, [graded(arm, spec, its) for spec in specs for arm, its in right.items()])


def test_an_arm_stands_against_another_of_its_spec(folder):
    put(folder, study(load("mine")))
    made = compare(folder, "mine:independent", ":seed")
    assert (made.a, made.b, made.of) == ("mine:independent", "mine:seed", ("mean of 2 proposals", "as it is"))
    assert (made.whole.ours, made.whole.theirs, made.whole.difference.value) == (0.75, 0.5, 0.25)
    assert (made.whole.unit, made.whole.difference.n, made.whole.p) == ("family", 2, 0.5)
    assert [line.name for line in made.families] == ["copying", "echoing"]
    assert "No interval: the difference is the same in all families." in made.notes


def test_few_families_say_that_questions_may_be_asked_about(folder):
    """Two families gave an interval of [-6, +7], and nothing told of --unit question."""
    put_arms(folder, load("mine"), seed=1, independent=6)
    made = compare(folder, "mine:independent", ":seed")
    assert made.whole.difference.n == 2
    assert "--unit question asks about these 2 families alone, over 16 questions." in made.notes
    asked = compare(folder, "mine:independent", ":seed", Options(unit="question"))
    assert asked.whole.difference.n == 16 and not any("--unit" in note for note in asked.notes)


def test_what_was_selected_may_be_compared(folder):
    put(folder, study(load("mine")))
    assert compare(folder, "mine:independent", ":seed", Options(selected=True)).whole.ours == 1.0


def test_of_one_family_the_unit_is_the_question_and_flips_are_told(folder):
    (one,) = load("mine", ["family.name=copying"])
    put_arms(folder, [one], seed=1, independent=7)
    made = compare(folder, "mine:independent family.name=copying", ":seed")
    assert (made.whole.unit, made.whole.difference.n, made.families) == ("question", 8, ())
    flipped = [(flip.question_id, flip.ours, flip.theirs) for flip in made.flips]
    assert flipped == [(f"copying/{i}", 1.0, 0.0) for i in range(1, 7)]
    assert made.questions == 8


def test_all_equal_is_told_and_is_no_finding(folder):
    put_arms(folder, load("mine"), seed=4, independent=4)
    made = compare(folder, "mine:independent", ":seed")
    assert (made.whole.difference.value, made.whole.p, made.flips) == (0.0, 1.0, ())


def test_what_one_side_alone_has_is_left_out_and_told(folder):
    first, second = load("mine")
    put(folder, [graded("seed", first, 4), graded("seed", second, 4), graded("independent", first, 5, questions=9)])
    made = compare(folder, "mine:independent", ":seed")
    assert made.questions == 8
    assert "Questions of mine:independent alone: 1 (copying)." in made.left_out
    assert "Families of mine:seed alone: echoing." in made.left_out


def test_sides_that_share_nothing_say_what_each_was_asked(folder):
    first, second = load("mine")
    put(folder, [graded("seed", first, 4), graded("independent", second, 4)])
    said = r"share no question: mine:independent was asked 8 of echoing \(seed 0\); mine:seed was asked 8 of copying"
    with pytest.raises(HbenchError, match=said):
        compare(folder, "mine:independent", ":seed")


def test_a_quick_look_says_so(folder):
    put(folder, study([spec.limited(2) for spec in load("mine")]), limited=2)
    made = compare(folder, "mine:independent", ":seed")
    assert "mine:independent is a quick look, not a result: run with --limit 2." in made.notes


def test_specs_that_were_not_run_are_told(folder):
    first, second = load("mine")
    put(folder, study([first]))
    made = compare(folder, "mine:independent", ":seed")
    assert "1 of 2 specs of mine:seed have no finished run." in made.left_out


@pytest.mark.parametrize("runs", [[["seed", "independent"]], [["seed"], ["independent"]]])
def test_arms_that_were_run_alone_are_found(folder, runs):
    """`hbench run SPEC --arm` makes another spec of it; arms may have been run in one go or one by one."""
    (folder.parent / "specs/mine.yaml").write_text(SPEC + "  third: {rounds: 2}\n")
    put(folder, [point for arms in runs for spec in load("mine") for point in alone(spec, spec.only(arms), arms)])
    assert compare(folder, "mine:independent", ":seed").whole.difference.value == 0.25


def alone(whole, own, arms):
    return [replace(point, spec=own.digest) for point in study([whole]) if point.arm in arms]


def test_an_arm_that_was_not_run_is_told(folder):
    put(folder, [point for spec in load("mine") for point in alone(spec, spec.only(["seed"]), ["seed"])])
    with pytest.raises(HbenchError, match="mine, as it reads today, has no finished run"):
        compare(folder, "mine:independent", ":seed")


def test_a_spec_that_was_edited_has_not_been_run(folder):
    put(folder, study(load("mine")))
    (folder.parent / "specs/mine.yaml").write_text(SPEC.replace("evaluation: 4", "evaluation: 5"))
    with pytest.raises(HbenchError, match="mine, as it reads today, has no finished run: `hbench run mine` makes one"):
        compare(folder, "mine:independent", ":seed")


def test_without_results_it_says_what_to_run(folder):
    with pytest.raises(HbenchError, match="no database in .*results/ yet: run `hbench run SPEC`"):
        compare(folder, "mine:independent", ":seed")


def test_a_swept_setting_has_to_be_chosen(folder):
    (folder.parent / "specs/mine.yaml").write_text(SPEC.replace("family.name: [copying, echoing]", "proposals: [2, 3]"))
    specs = load("mine")
    put(folder, study(specs))
    said = r"mine is swept; set one value behind it, as 'mine proposals=2' \(there are: proposals=2; proposals=3\)"
    with pytest.raises(HbenchError, match=said):
        compare(folder, "mine:independent", ":seed")
    assert compare(folder, "mine:independent proposals=2", ":seed").whole.difference.value == 0.25


def test_an_unknown_grade_says_which_there_are(folder):
    put(folder, study(load("mine")))
    with pytest.raises(HbenchError, match=r"no grade 'em' on held-out questions \(there are: exact, score\)"):
        compare(folder, "mine:independent", ":seed", Options(grade="em"))
    assert compare(folder, "mine:independent", ":seed", Options(grade="exact")).whole.ours == 0.5


def test_a_run_of_ones_own_stands_against_a_published_one(folder):
    put(folder.parent / "before", study(load("mine"), score=0.25))
    publish(folder.parent / "before", ["mine"], "earlier", Terms(with_questions=True))
    put(folder, study(load("mine"), score=0.5))
    (folder.parent / "before/published").rename(folder / "published")
    made = compare(folder, "mine:seed", "published/earlier mine:seed")
    assert (made.whole.ours, made.whole.theirs) == (0.5, 0.25)


@pytest.mark.slow
def test_the_committed_study_says_what_its_exhibit_says():
    made = compare(Path("results"), f"{UNSEEN}:rl_0", ":sft")
    cells = {(c.row, c.column): c for c in regenerate("mini", Path("results")).cells}
    ours, theirs = (cells[f"mini-unseen / {arm}", "score"] for arm in ("rl_0", "sft"))
    apart, pooled = (cells[f"mini-unseen / {arm}", "difference"] for arm in ("rl_0", "rl"))
    assert (made.whole.ours, made.whole.theirs) == pytest.approx((ours.value, theirs.value))
    found = made.whole.difference
    assert (found.value, found.n, found.low, found.high) == pytest.approx((apart.value, 12, apart.low, apart.high))
    assert [line.holm for line in made.families] == holm([line.p for line in made.families])
    both = compare(Path("results"), f"{UNSEEN}:rl_0+rl_1", ":sft").whole.difference
    assert (both.value, both.low, both.high) == pytest.approx((pooled.value, pooled.low, pooled.high))
