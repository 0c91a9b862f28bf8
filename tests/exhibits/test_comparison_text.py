"""A comparison in a terminal, as Markdown, CSV and JSON."""

import csv
import io
import json

from hbench.exhibits.compare import Comparison, Flip
from hbench.exhibits.comparison_text import as_csv, as_json, as_markdown, as_table
from hbench.exhibits.differences import Difference
from hbench.exhibits.statistics import Estimate

HOSTILE = "\x1b[2J<script>alert(1)</script> ![x](http://a/b) | `cat`\u202e\nand more of it, which nobody reads to its end"
MADE = Comparison(
    "quickstart:rl",
    "quickstart:base",
    ("mean of 8 proposals", "mean of 8 proposals"),
    48,
    Difference("all", "family", 0.5, 0.25, Estimate(0.25, 3, -0.125, 0.625), 0.25),
    (
        Difference("lcm", "question", 0.75, 0.25, Estimate(0.5, 16, 0.25, 0.75), 0.0001, 0.0003),
        Difference("products", "question", 0.25, 0.25, Estimate(0.0, 16), 1.0, 1.0),
    ),
    (Flip("lcm", "0a1b", HOSTILE, 1.0, 0.0), Flip("lcm", "2c3d", "What is 2?", 0.25, 0.5)),
    ("Families of quickstart:rl alone: gcd.",),
    ("Paired by question.",),
)

TABLE = """\
A  quickstart:rl    mean of 8 proposals
B  quickstart:base  mean of 8 proposals

          over          A      B      A - B                    p       p (Holm)
all       3 families    0.500  0.250  +0.250 [-0.125, +0.625]  0.250
lcm       16 questions  0.750  0.250  +0.500 [+0.250, +0.750]  <0.001  <0.001
products  16 questions  0.250  0.250  +0.000                   1.000   1.000

2 of 48 questions flipped (right is at least one half): 1 for A, 1 for B

for  family  question  A     B     it begins
A    lcm     0a1b      1.00  0.00  [2J<script>alert(1)</script> ![x](http://a/b) | `cat` and m…
B    lcm     2c3d      0.25  0.50  What is 2?

left out:
  Families of quickstart:rl alone: gcd.

how:
  Paired by question."""


def test_a_terminal_shows_the_whole_the_families_and_what_flipped():
    assert as_table(MADE) == TABLE


def test_fewer_flips_are_shown_when_asked_for():
    assert "What is 2?" not in as_table(MADE, 1)
    assert "it begins" not in as_markdown(MADE, 0)


def test_markdown_of_a_question_stays_text():
    text = as_markdown(MADE)
    assert "| all | 3 families | 0.500 | 0.250 | +0.250 [-0.125, +0.625] | 0.250 |  |" in text
    assert "\x1b" not in text and "<script" not in text and "![x]" not in text
    assert r"\!\[x\](http://a/b) \| \`cat\`" in text


def test_csv_has_a_line_for_all_each_family_and_each_flip():
    rows = list(csv.DictReader(io.StringIO(as_csv(MADE))))
    assert [(row["part"], row["family"], row["question"]) for row in rows] == [
        ("all", "", ""),
        ("family", "lcm", ""),
        ("family", "products", ""),
        ("flipped", "lcm", "0a1b"),
        ("flipped", "lcm", "2c3d"),
    ]
    assert (rows[0]["difference"], rows[0]["low"], rows[2]["low"], rows[1]["holm"]) == ("0.25", "-0.125", "", "0.0003")


def test_json_has_all_of_it():
    read = json.loads(as_json(MADE))
    assert read["whole"]["difference"] == {"value": 0.25, "n": 3, "low": -0.125, "high": 0.625}
    assert read["flips"][0]["text"] == HOSTILE
