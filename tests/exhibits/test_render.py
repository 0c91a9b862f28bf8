import csv
import io
import subprocess
import sys
from dataclasses import replace

import pytest

from hbench.exhibits.block import ColumnBlock, ExhibitBlock
from hbench.exhibits.cells import Cell
from hbench.exhibits.exhibit import Exhibit
from hbench.exhibits.render import cell_text, csv_lines, latex, latex_text, markdown, write


def cell(value, low=None, high=None, **more) -> Cell:
    return Cell("a", "score", value, 3, low, high, **more)


def exhibit() -> Exhibit:
    block = ExhibitBlock.model_validate(
        {"title": "50 % & more", "from": ["x"], "source": "Table 9", "columns": {"score": "%.2f", "n_q": "%d"}}
    )
    cells = (Cell("tool_loop", "score", 0.41234, 3, 0.3, 0.52), Cell("tool_loop", "n_q", 75.0, 3, None, None))
    missing = (Cell("a|b", "score", None, 0, None, None, 0.28, 0.05, None), Cell("a|b", "n_q", None, 0, None, None))
    return Exhibit("proposal_quality", block, (("tool_loop",), ("a|b",)), cells + missing, ("Said once.",))


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (cell(0.41, 0.3, 0.52), "0.41 [0.30, 0.52]"),
        (cell(0.41), "0.41"),
        (cell(None), "–"),
        (cell(-0.001), "0.00"),
        (cell(-0.125, -0.2, 0.0), "-0.12 [-0.20, 0.00]"),
        (cell(0.4, paper_value=0.38, tolerance=0.05, within=True), "0.40 (paper 0.38, agrees)"),
        (cell(0.1, paper_value=0.38, tolerance=0.05, within=False), "0.10 (paper 0.38, differs)"),
        (cell(None, paper_value=0.38, tolerance=0.05), "– (paper 0.38)"),
    ],
)
def test_a_cell_reads(made, text):
    assert cell_text(made, ColumnBlock(format="%.2f")) == text


def test_a_column_may_leave_its_intervals_to_the_csv_file():
    assert cell_text(cell(0.41, 0.3, 0.52), ColumnBlock(format="%.2f", interval=False)) == "0.41"


def test_markdown():
    assert markdown(exhibit()) == (
        "# 50 % & more\n"
        "\n"
        "*Table 9*\n"
        "\n"
        "| arm       |             score | n_q |\n"
        "| --------- | ----------------: | --: |\n"
        "| tool_loop | 0.41 [0.30, 0.52] |  75 |\n"
        "| a\\|b      |    – (paper 0.28) |   – |\n"
        "\n"
        "- Said once.\n"
    )


def test_markdown_holds_nothing_that_a_terminal_obeys():
    """A bundle of somebody else's names its arms, and `hbench exhibit` prints them."""
    evil = replace(exhibit(), rows=(("\x1b]0;owned\x07",), ("a",)), caption=("Models: \x1b[2J\u202e.",))
    assert all(c.isprintable() or c == "\n" for c in markdown(evil))


def test_latex_is_booktabs_with_everything_escaped():
    assert latex(exhibit()) == "\n".join(
        [
            r"\begin{table}",
            r"\centering",
            r"\begin{tabular}{lrr}",
            r"\toprule",
            r"arm & score & n\_q \\",
            r"\midrule",
            r"tool\_loop & 0.41 [0.30, 0.52] & 75 \\",
            r"a\textbar{}b & -- (paper 0.28) & -- \\",
            r"\bottomrule",
            r"\end{tabular}",
            r"\caption{50 \% \& more. Said once.}",
            r"\label{tab:proposal-quality}",
            r"\end{table}",
            "",
        ]
    )


def test_every_character_that_means_something_to_latex_is_escaped():
    assert latex_text(r"\ { } & % $ # _ ~ ^") == (
        r"\textbackslash{} \{ \} \& \% \$ \# \_ \textasciitilde{} \textasciicircum{}"
    )


def test_negative_numbers_get_a_true_minus_and_hyphens_stay():
    assert latex_text("-0.12 [-0.30, 0.06] rg-s0 2026-11-29") == r"\(-\)0.12 [\(-\)0.30, 0.06] rg-s0 2026-11-29"


def test_csv_keeps_full_precision():
    rows = list(csv.DictReader(io.StringIO(csv_lines(exhibit()))))
    assert rows[0] == {
        "exhibit": "proposal_quality",
        "row": "tool_loop",
        "column": "score",
        "value": "0.41234",
        "n": "3",
        "low": "0.3",
        "high": "0.52",
        "paper_value": "",
        "tolerance": "",
        "within": "",
    }
    assert rows[2]["value"] == "" and rows[2]["paper_value"] == "0.28"


def test_writing_gives_one_file_of_each_sort(tmp_path):
    files = write(exhibit(), tmp_path / "exhibits")
    assert [file.name for file in files] == [f"proposal_quality.{ending}" for ending in ("md", "csv", "tex")]
    assert all(file.read_text(encoding="utf-8") for file in files)


def test_importing_exhibits_loads_neither_duckdb_nor_scipy():
    code = "import sys, hbench.exhibits.exhibit, hbench.exhibits.render; print(*{'duckdb', 'scipy', 'numpy'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""
