"""The paper's values beside ours."""

from hbench.exhibits.block import ExhibitBlock, PaperValue
from hbench.exhibits.cells import Line, cell
from hbench.exhibits.exhibit import Exhibit, read, regenerate_from
from hbench.exhibits.paper_rows import with_paper_rows
from hbench.exhibits.sources import Source, count_newest_runs
from hbench.exhibits.statistics import Estimate
from tests.exhibits.database import filled
from tests.exhibits.study import Point, Writer

LINE = Line("study", "", "rl", ("rl",), [])


def test_the_edge_of_the_tolerance_agrees():
    for value, within in ((0.6, True), (0.4, True), (0.601, False), (None, None)):
        assert cell(LINE, "score", Estimate(value, 3), PaperValue(value=0.5), 0.1).within is within


def test_a_cell_may_have_a_tolerance_of_its_own():
    made = cell(LINE, "score", Estimate(0.6, 3), PaperValue(value=0.5, tolerance=0.01), 0.1)
    assert (made.tolerance, made.within) == (0.01, False)


def made(ran: str, **more) -> Exhibit:
    """One spec `ran` with arm rl at 0.5 in two families; the paper has rl and teacher."""
    block, sql = read("proposal_quality")
    fields = {**block.model_dump(by_alias=True), "paper_specs": ["paper/study"], **more}
    fields["paper"] = {"rl": {"score": 0.528}, "teacher": {"score": 0.501}}
    study = [Point("rl", family, 0, *[{f"{family}/{i}": (0.5, 0.0) for i in range(4)}] * 2) for family in ("a", "b")]
    writer = Writer()
    writer.points(study)
    connection = filled(writer.rows)
    count_newest_runs(connection)
    source = Source(ran, {p.digest: "" for p in study}, ("rl",))
    return regenerate_from(connection, ("proposal_quality", ExhibitBlock.model_validate(fields), sql), [source])


def test_a_spec_that_repeats_the_papers_setting_is_compared_and_what_it_lacks_is_shown():
    cells = {(c.row, c.column): c for c in made("paper/study").cells}
    assert (cells["rl", "score"].paper_value, cells["rl", "score"].within) == (0.528, True)
    assert (cells["teacher", "score"].value, cells["teacher", "score"].paper_value) == (None, 0.501)


def test_another_spec_is_not_compared_with_the_paper():
    exhibit = made("quickstart")
    assert exhibit.rows == (("rl",),)
    assert all(c.paper_value is None for c in exhibit.cells)
    assert "The paper's values are left out: they belong to the setting of paper/study." in exhibit.caption


def test_without_a_list_the_exhibits_own_specs_are_compared():
    assert made("quickstart", paper_specs=None).cells[0].paper_value == 0.528


BLOCK = ExhibitBlock.model_validate(
    {"title": "T", "from": ["data/one", "data/two"], "rows": ["family", "arm"], "columns": {"score": {}}}
    | {"paper": {"one / rl": {"score": 0.5}, "all / rl": {"score": 0.25}, "all / theirs": {"score": 0.75}}}
)


def unrun(spec: str, arm: str) -> Line:
    return Line(spec, "", arm, ("–", arm), [])


def test_a_row_of_the_paper_stands_for_the_arms_that_would_fill_it():
    lines = [unrun("data/one", "rl"), unrun("data/two", "rl"), unrun("data/one", "base")]
    sources = [Source(name, {}, ("rl",)) for name in BLOCK.from_]
    made = with_paper_rows(BLOCK, lines, lines, sources)
    assert [(line.parts, line.source) for line in made] == [
        (("–", "base"), "data/one"),
        (("one", "rl"), "data/one"),
        (("all", "rl"), "data/one, data/two"),
        (("all", "theirs"), ""),
    ]


def test_an_arm_of_a_spec_in_another_setting_is_not_hidden_behind_the_paper():
    line = unrun("quick", "rl")
    made = with_paper_rows(BLOCK, [line], [line], [Source("quick", {}, ("rl",)), Source("data/one", {}, ("rl",))])
    assert made[0] == line and [row.source for row in made[1:]] == ["", "", ""]
