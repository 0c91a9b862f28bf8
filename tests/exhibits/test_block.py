import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from hbench.core.failure import HbenchError
from hbench.exhibits.block import ColumnBlock, ExhibitBlock, PaperValue
from hbench.exhibits.exhibit import names, read
from hbench.spec import SpecError

SMALL = {"title": "T", "from": ["quickstart"], "columns": {"score": "%.2f"}}


def block(**more) -> ExhibitBlock:
    return ExhibitBlock.model_validate({**SMALL, **more})


def test_a_bare_format_is_a_column_and_a_bare_number_a_value():
    made = block(paper={"base": {"score": 0.3}})
    assert made.columns["score"] == ColumnBlock(format="%.2f")
    assert made.paper["base"]["score"] == PaperValue(value=0.3)


def test_one_row_name_may_stand_without_brackets():
    assert block(rows="arm").rows == ["arm"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"columns": {"score": "%s %s"}}, "expected a format for one number"),
        ({"columns": {"score": "none"}}, "expected a format for one number"),
        ({"columns": {"score": {"statistic": "difference"}}}, "baseline is missing"),
        ({"columns": {}}, "at least 1 item"),
        ({"paper": {"base": {"skore": 0.3}}}, "no column 'skore'"),
        ({"rows": ["round"]}, "the arm must be among them"),
        ({"from": []}, "at least 1 item"),
        ({"tolerance": -1}, "greater than or equal to 0"),
        ({"colums": {}}, "Extra inputs"),
        ({"unit": "chain", "columns": {"n": {"statistic": "families"}}}, "families cannot be counted where the unit is"),
        ({"rows": ["family"], "arms": "first", "baseline": "seed"}, "rows without the arm have none"),
        ({"columns": {"n": {"statistic": "questions"}}}, "questions cannot be counted where the unit is the family"),
        ({"columns": {"x": {"statistic": "ratio"}}}, "baseline is missing"),
        ({"columns": {"x": {"statistic": "sum", "per": "turns"}}}, "per belongs to a mean, not to sum"),
        ({"columns": {"x": {"per": "turns", "over": "domain"}}}, "over belongs to a mean without `per`"),
        ({"columns": {"x": {"statistic": "groups"}}}, "groups are values of `over`"),
    ],
)
def test_what_cannot_be_an_exhibit_is_refused(wrong, said):
    with pytest.raises(ValidationError, match=said):
        block(**wrong)


def test_rows_may_lack_the_arm_where_one_arm_stands_for_all():
    assert block(rows="family", arms="first").shown(["seed", "rl"]) == {"seed": ["seed"]}
    assert block(arms=["rl", "other"]).shown(["seed", "rl"]) == {"rl": ["rl"]}
    assert block().shown(["seed", "rl"]) == {"seed": ["seed"], "rl": ["rl"]}


def test_a_row_may_pool_arms_that_have_rows_of_their_own_where_they_are_named():
    pool = {"rl": ["rl_0", "rl_1"]}
    arms = ["seed", "rl_0", "rl_1"]
    assert block(pool=pool).shown(arms) == {"seed": ["seed"], "rl": ["rl_0", "rl_1"]}
    assert block(pool=pool, arms=["rl", "rl_1"]).shown(arms) == {"rl": ["rl_0", "rl_1"], "rl_1": ["rl_1"]}
    assert block(pool=pool).shown(["rl_1"]) == {"rl": ["rl_1"]}


def test_views_stand_before_the_sql_and_a_missing_one_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("specs/exhibits")
    (folder / "views").mkdir(parents=True)
    (folder / "views/mine.sql").write_text("create temporary view v as select 1;")
    (folder / "mine.sql").write_text("select 2")
    (folder / "mine.yaml").write_text("title: T\nfrom: [quickstart]\ncolumns: {score: '%.2f'}\nviews: [mine]\n")
    assert read("mine")[1] == "create temporary view v as select 1;\nselect 2"
    (folder / "views/mine.sql").unlink()
    with pytest.raises(HbenchError, match="there is no exhibits/views/mine.sql"):
        read("mine")


@pytest.mark.parametrize("name", names())
def test_every_exhibit_is_valid_and_names_its_schema(name):
    made, sql = read(name)
    assert made.title and made.source and sql


def test_problems_are_told_with_their_lines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("specs/exhibits")
    folder.mkdir(parents=True)
    (folder / "mine.sql").write_text("select 1 order by 1")
    (folder / "mine.yaml").write_text(
        "title: T\nfrom: [quickstart]\ncolums: {score: '%.2f'}\ncolumns:\n  score: {format: 'lots'}\ntolerance: much\n"
    )
    with pytest.raises(SpecError) as caught:
        read("mine")
    assert str(caught.value).splitlines() == [
        "specs/exhibits/mine.yaml:3:1: unknown key 'colums' (did you mean 'columns'?)",
        "specs/exhibits/mine.yaml:5:11: columns.score.format: expected a format for one number, got 'lots' (such as %.3f or %d)",
        "specs/exhibits/mine.yaml:6:1: tolerance: expected a number, got 'much'",
    ]


def test_an_unknown_exhibit_is_an_error_that_names_those_there_are():
    with pytest.raises(HbenchError, match="no exhibit 'proposals'.*proposal_quality, .*rounds"):
        read("proposals")


def test_the_schema_for_editors_has_a_line_for_every_field():
    schema = ExhibitBlock.model_json_schema()
    assert schema["additionalProperties"] is False
    assert {"title", "from", "rows", "columns", "paper"} <= set(schema["properties"])
    assert all(field["description"] for field in schema["properties"].values())
    assert {"type": "string"} in schema["properties"]["columns"]["additionalProperties"]["anyOf"]
    json.dumps(schema)
