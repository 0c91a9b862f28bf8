"""Plots: what they show, that they are complete, and that the same cells give the same bytes."""

import hashlib
import html
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from pydantic import ValidationError

from hbench.exhibits.block import ExhibitBlock
from hbench.exhibits.cells import Cell
from hbench.exhibits.exhibit import Exhibit
from hbench.exhibits.figure import figure_files, plot
from hbench.exhibits.render import write

FIGURE = {
    "x": "round",
    "y": "em",
    "panels": "family",
    "levels": [{"arm": "seed", "column": "em", "label": "the seed"}, {"arm": "independent", "column": "best"}],
    "labels": {"round": "rounds of revision", "em": "exact match (EM)", "musique": "MuSiQue"}
    | {"rl": "RL & proposer <b>"},
}
ROWS = {"family": ["musique", "2wiki"], "arm": ["base", "rl"], "round": ["0", "1", "2"]}


def exhibit(values: bool = True, **more) -> Exhibit:
    """Curves of two arms in two families, a seed and independent proposals; the paper has some of rl's rounds."""
    columns = {"em": "%.2f", "best": "%.2f", "tokens": "%d"}
    fields = {"title": "T", "from": ["x"], "rows": ["family", "arm", "round"], "columns": columns}
    block = ExhibitBlock.model_validate({**fields, "figure": {**FIGURE, **more}})
    rows, cells = [], []
    for f, family in enumerate(ROWS["family"]):
        for arm, round_ in [("seed", "0"), ("independent", "1"), *((a, r) for a in ROWS["arm"] for r in ROWS["round"])]:
            em = 0.1 + 0.1 * f + 0.05 * int(round_) * (arm == "rl") if values else None
            interval = (em - 0.02, em + 0.03) if values and arm != "seed" else (None, None)
            paper = 0.2 if values and (family, arm) == ("musique", "rl") and round_ != "0" else None
            row = " / ".join((family, arm, round_))
            rows.append((family, arm, round_))
            best = 0.3 if arm == "independent" and values else None
            cells += [
                Cell(row, "em", em, 4, *interval, paper),
                Cell(row, "best", best, 4, None, None),
                Cell(row, "tokens", 20_000.0 * int(round_) if values else None, 4, None, None),
            ]
    return Exhibit("qa_rounds", block, tuple(rows), tuple(cells), ())


def texts(svg: bytes) -> set[str]:
    """Every text that the picture shows: letters are shapes, and what they spell stands in a comment."""
    assert ElementTree.fromstring(svg) is not None and b"<text" not in svg and b"font-family" not in svg
    return {html.unescape(text.strip()) for text in re.findall("<!--(.*?)-->", svg.decode())}


def test_every_series_panel_line_and_axis_is_named():
    shown = texts(figure_files(exhibit())["qa_rounds.svg"])
    axes = {"rounds of revision", "exact match (EM)", "MuSiQue", "2wiki"}
    assert axes | {"base", "RL & proposer <b>", "the seed", "independent, best"} <= shown


def test_the_legend_says_once_how_the_papers_values_are_drawn():
    shown = texts(figure_files(exhibit())["qa_rounds.svg"])
    assert "the paper's: hollow, thin" in shown and "RL & proposer <b>, paper" not in shown
    theirs = [Cell(c.row, c.column, None, 0, None, None, c.paper_value) for c in exhibit().cells]
    alone = Exhibit("qa_rounds", exhibit().block, exhibit().rows, tuple(theirs), ())
    shown = texts(figure_files(alone)["qa_rounds.svg"])
    assert "RL & proposer <b>, paper" in shown and "the paper's: hollow, thin" not in shown


def test_the_same_cells_give_the_same_bytes_in_another_process_too():
    code = "from tests.exhibits.test_figure import *; print(digests())"
    odd = {**os.environ, "PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": "1000000000"}
    other = subprocess.run([sys.executable, "-c", code], env=odd, capture_output=True, text=True, check=True).stdout
    assert other == f"{digests()}\n"


def digests() -> list[str]:
    made = figure_files(exhibit())
    return [hashlib.sha256(made[name]).hexdigest() for name in sorted(made)]


def test_a_users_matplotlib_settings_change_nothing():
    import matplotlib

    before = figure_files(exhibit())
    with matplotlib.rc_context({"font.size": 20, "svg.fonttype": "none", "axes.facecolor": "red"}):
        assert figure_files(exhibit()) == before


def test_both_pictures_are_there_one_column_wide_and_without_a_date():
    files = figure_files(exhibit())
    assert sorted(files) == ["qa_rounds.png", "qa_rounds.svg"]
    root = ElementTree.fromstring(files["qa_rounds.svg"])
    assert float(root.attrib["width"].removesuffix("pt")) / 72 == pytest.approx(3.4)
    assert b"<dc:date>" not in files["qa_rounds.svg"]
    assert files["qa_rounds.png"].startswith(b"\x89PNG") and b"tIME" not in files["qa_rounds.png"]


def test_curves_hold_the_cells_with_their_intervals_and_the_papers_apart():
    made = plot(exhibit(), exhibit().block.figure, "round")
    first = made.panels[0]
    assert [curve.label for curve in first.curves] == ["base", "RL & proposer <b>", "RL & proposer <b>, paper"]
    assert [(d.x, round(d.value, 2), round(d.low, 2), round(d.high, 2)) for d in first.curves[1].dots] == [
        (0.0, 0.1, 0.08, 0.13),
        (1.0, 0.15, 0.13, 0.18),
        (2.0, 0.2, 0.18, 0.23),
    ]
    assert [(d.x, d.value) for d in first.curves[2].dots] == [(1.0, 0.2), (2.0, 0.2)]
    flat = [(level.label, round(level.at.value, 2)) for level in first.levels]
    assert flat == [("the seed", 0.1), ("independent, best", 0.3)]


def test_intervals_are_drawn():
    without = [Cell(c.row, c.column, c.value, c.n, None, None, c.paper_value) for c in exhibit().cells]
    bare = Exhibit("qa_rounds", exhibit().block, exhibit().rows, tuple(without), ())
    assert len(figure_files(bare)["qa_rounds.svg"]) < len(figure_files(exhibit())["qa_rounds.svg"])


def test_a_series_has_one_style_in_every_panel():
    panels = plot(exhibit(), exhibit().block.figure, "round").panels
    assert [[c.style for c in panel.curves if not c.paper] for panel in panels] == [[0, 1], [0, 1]]


def test_the_papers_values_may_be_left_out():
    made = plot(exhibit(paper=False), exhibit(paper=False).block.figure, "round")
    assert not any(curve.paper for panel in made.panels for curve in panel.curves)


def test_each_of_several_x_has_a_picture_of_its_own():
    made = exhibit(x=["round", "tokens"])
    files = figure_files(made)
    assert sorted(files) == [f"qa_rounds_{x}.{ending}" for x in ("round", "tokens") for ending in ("png", "svg")]
    assert {"tokens", "40k"} <= texts(files["qa_rounds_tokens.svg"])


def test_names_stand_on_the_x_axis_in_their_order():
    made = exhibit(x="arm", series="round", levels=[], panels=None)
    named = ("seed", "independent", "base", "RL & proposer <b>")
    assert plot(made, made.block.figure, "arm").x_names == named
    assert {*named} <= texts(figure_files(made)["qa_rounds.svg"])


def test_several_columns_make_curves_side_by_side():
    made = exhibit(x="arm", y=["em", "best"], series=None, panels="family", levels=[], labels={"y": "score", "best": "oracle"})
    panels = plot(made, made.block.figure, "arm").panels
    assert [[curve.label for curve in panel.curves if not curve.paper] for panel in panels] == [["em", "oracle"]] * 2
    assert plot(made, made.block.figure, "arm").y_label == "score"


def test_several_columns_may_have_a_panel_each():
    made = exhibit(x="round", y=["em", "best"], panels="column", levels=[])
    panels = plot(made, made.block.figure, "round").panels
    assert [(panel.title, panel.y_label) for panel in panels] == [("", "exact match (EM)"), ("", "best")]
    assert {"exact match (EM)", "best"} <= texts(figure_files(made)["qa_rounds.svg"])
    assert [curve.label for curve in panels[1].curves] == ["independent"]


def test_series_over_names_stand_side_by_side():
    """Intervals of two series at one name lay on each other, and hid which was which."""
    made = exhibit(x="arm", y=["em", "best"], series=None, panels="family", levels=[], labels={})
    from hbench.exhibits.draw import _offsets

    assert _offsets(plot(made, made.block.figure, "arm")) == {0: -0.125, 1: 0.125}


def test_dots_over_names_are_not_joined():
    joined = figure_files(exhibit(levels=[], panels=None, series="arm"))["qa_rounds.svg"]
    apart = figure_files(exhibit(x="family", levels=[], panels=None, series="arm"))["qa_rounds.svg"]
    assert b"PolyCollection" in joined, "the interval of a curve is a band"
    assert b"PolyCollection" not in apart


def test_a_study_that_was_not_run_has_a_picture_that_says_so():
    assert "nothing measured yet" in texts(figure_files(exhibit(values=False))["qa_rounds.svg"])


def test_an_interval_that_is_missing_leaves_its_dot_alone():
    cells = [Cell(c.row, c.column, c.value, 1, None, None) if c.row.endswith("1") else c for c in exhibit().cells]
    made = Exhibit("qa_rounds", exhibit().block, exhibit().rows, tuple(cells), ())
    assert plot(made, made.block.figure, "round").panels[0].curves[0].dots[1].low is None
    assert figure_files(made)["qa_rounds.svg"]


def test_an_exhibit_with_a_figure_is_written_with_it(tmp_path):
    names = [file.name for file in write(exhibit(), tmp_path)]
    assert names == [f"qa_rounds.{ending}" for ending in ("md", "csv", "tex", "svg", "png")]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"y": "emm"}, "no column 'emm'"),
        ({"x": "rounds"}, "no row or column 'rounds'"),
        ({"series": "proposer"}, "no row 'proposer'"),
        ({"panels": "families"}, "no row 'families'"),
        ({"series": "column"}, "no row 'column'"),
        ({"levels": [{"arm": "seed", "column": "worst"}]}, "no column 'worst'"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_what_a_figure_names_must_be_in_the_table(wrong, said):
    with pytest.raises(ValidationError, match=said):
        exhibit(**wrong)


def test_importing_exhibits_does_not_load_matplotlib():
    code = "import sys, hbench.exhibits.render; print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
