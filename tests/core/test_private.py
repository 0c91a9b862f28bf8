"""What of a guidance is private, and when a text gives it away."""

import pytest

from hbench.core.harness import Harness
from hbench.core.private import leaked, private

CHECK = '''
# Writers who skip the header lose the first row of names.
def check(proposal, history):
    """Say when a file is written that nobody has read before."""
    if "sort -o" in (proposal["command"] or ""):
        return {"evidence": "it sorts in place", "instruction": "Let it look at the file first, with `head -n 5 FILE`."}
'''
K = Harness(
    {
        "recipes/row_count.md": "Count the rows of a table without its header:\n\n```bash\ntail -n +2 FILE | wc -l | tr -d ' '\n```\n",
        "recipes/sort.md": "# How to sort\n\nUse `sort -o FILE FILE` where a file is to be sorted in place.\n",
        "checks/overwrites.py": CHECK,
        "advice/read_first.md": "- A file that was never read must be read before it is changed, whatever the question seems to say.\n",
        "advice/formulas.md": "# Formulas\nWhere a cell holds a formula, read it with `load_workbook(path, data_only=True)`, and\ncompare it with the number that is shown.\n",
        "patterns.md": "Blank lines at the end of a list are counted as names.",
    }
)
PRIVATE = private(K)


@pytest.mark.parametrize(
    "text",
    [
        "cat recipes/sort.md",
        "As read_first tells me, I look.",
        "python3 checks/overwrites.py",
        "A file that was never read must be read before it is changed.",
        "I think BLANK lines, at the end of a list,\nare counted as names!",
        "# Writers who skip the header lose the first row of names\nhead -n 1 a.csv",
        "Say when a file is written that nobody has read before",
        "<proposal>ls</proposal>",
        "Where a cell holds a formula, read it with load_workbook.",
        "`load_workbook` and compare it with the number that is shown",
        '{"command": "# Blank lines at the end of\\n# a list are counted as names\\ncat\\trecipes/sort.md"}',
        '{"command": "ls\\nread_first"}',
        "recipes\\/sort.md",
        "As read\\_first tells me, I look.",
        "As rea\u200bd_first tells me, I look.",
        "As ｒead_first tells me, I look.",
        "Blank lines at the e\u00adnd of a list are counted as na\u200bmes",
        "I remember: whatever the question seems to say, before it is changed, a file that was never read must be read.",
    ],
)
def test_a_name_or_a_sentence_gives_it_away(text):
    assert leaked(text, PRIVATE) is not None


@pytest.mark.parametrize(
    "text",
    [
        "sort -o names.txt names.txt",
        "tail -n +2 names.csv | wc -l | tr -d ' '",
        "I sort the names and count the rows.",
        "python3 -c 'print(load_workbook(path, data_only=True))' and compare",
        "Formulas where a cell holds a formula.",
        "I read the file first, since I have never read it.",
        "overwrites = False; already_read_first = 1; my-row_count-x",
        "",
    ],
)
def test_what_recipes_are_for_and_what_anybody_says_does_not(text):
    assert leaked(text, PRIVATE) is None


def test_what_the_student_has_read_anyway_is_no_leak():
    said = "Blank lines at the end of a list are counted as names. See recipes/sort.md"
    assert leaked(said, PRIVATE, known=said) is None
    assert leaked(said, PRIVATE, known="Blank lines at the end of a list are counted as names.") == "recipes/sort.md"
    assert leaked(said, PRIVATE, known="See recipes/sort.md") == "Blank lines at the end of a list are counted as names."


def test_names_of_one_plain_word_are_not_private_but_their_paths_are():
    assert {"recipes/sort.md", "row_count", "read_first"} <= set(PRIVATE) and "sort" not in PRIVATE
