"""Texts side by side, with marks; nothing in a harness can leave its place on the page."""

from html.parser import HTMLParser

from hbench.exhibits.block import DiffBlock
from hbench.exhibits.diff import Diff, diff_html, diff_markdown, diffs_of, hunks

COLUMNS = {"before": "old", "after": "new", "before_marks": "old_marks", "after_marks": "new_marks"}
BLOCK = DiffBlock(**COLUMNS, labels={"third": "a third search"})


def row(old, new, old_marks=None, new_marks=None) -> dict:
    named = {"family": "musique", "arm": "rl", "chain": 2}
    return named | {"old": old, "new": new, "old_marks": old_marks, "new_marks": new_marks}


def diff(old: str, new: str, old_marks="{}", new_marks="{}") -> Diff:
    return diffs_of(BLOCK, [row(old, new, old_marks, new_marks)])[0]


class Page(HTMLParser):
    """The elements and the texts of a page."""

    def __init__(self, page: str):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, text):
        self.texts.append(text)


def test_only_rows_with_two_different_texts_make_a_diff():
    rows = [row("a", "b"), row(None, "b"), row("a", None), row("a", "a")]
    assert [made.title for made in diffs_of(BLOCK, rows)] == ["musique, rl, chain 2"]


def test_lines_stand_beside_what_became_of_them():
    made = list(hunks(diff("one\ntwo\nthree\n", "one\n2\nthree\nfour\n")))
    pairs = [(p.kind, p.before and p.before.text, p.after and p.after.text) for p in made[0]]
    assert pairs == [(" ", "one", "one"), ("~", "two", "2"), (" ", "three", "three"), ("+", None, "four")]


def test_far_apart_changes_are_hunks_of_their_own():
    lines = [str(i) for i in range(40)]
    made = list(hunks(diff("\n".join(lines), "\n".join(["first", *lines, "last"]))))
    assert [(hunk[0].after.number, len(hunk)) for hunk in made] == [(1, 4), (39, 4)]


def test_marks_stand_beside_their_lines_and_above_the_diff():
    text = diff_markdown("Revisions", [diff("a\nb\n", "a\nc\n", '{"third": []}', '{"third": [2]}')])
    assert "- a third search: no → yes" in text
    assert any(line.rstrip().endswith("◂ a third search") and " c " in line for line in text.splitlines())


def test_a_mark_that_went_away_is_said_to_be_of_before():
    text = diff_markdown("Revisions", [diff("a\nb\n", "a\nc\n", '{"third": [2]}', '{"third": []}')])
    assert "◂ before: a third search" in text and "- a third search: yes → no" in text


def test_a_fence_in_a_harness_does_not_end_the_block():
    text = diff_markdown("Revisions", [diff("a\n", 'prompt = """\n```python\n````\n"""\n')])
    assert "\n`````text\n" in text and text.rstrip().endswith("`````")


def test_long_lines_go_on_below():
    text = diff_markdown("Revisions", [diff("x\n", "y" * 150 + "\n")])
    assert [line.count("y") for line in text.splitlines() if "y" in line] == [64, 64, 22]


def test_html_shows_what_a_harness_says_and_makes_nothing_of_it():
    evil = '</td><script>alert("x")</script> & "quoted"'
    page = Page(diff_html("A <b>title</b>", [diff("a\n", evil + "\n"), diff("</table>\n", "b\n")]))
    assert "script" not in page.tags and "b" not in page.tags
    assert evil in "".join(page.texts) and "</table>" in "".join(page.texts)
    assert page.tags.count("table") == 2


def test_the_page_is_the_same_each_time_and_needs_nothing_else():
    diffs = [diff("a\n", "b\n")]
    page = diff_html("T", diffs)
    assert page == diff_html("T", diffs)
    assert "http" not in page and {"link", "img", "script"}.isdisjoint(Page(page).tags)


def test_no_diff_is_still_a_page():
    assert "<h1>T</h1>" in diff_html("T", []) and diff_markdown("T", []) == "# T: diffs\n"
