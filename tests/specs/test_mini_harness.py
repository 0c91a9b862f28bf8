"""The seed harness of the laptop-size study: it asks the solver once, and its helpers forgive what questions look like."""

import pytest

from tests.where import REPO

HELPERS: dict = {}
exec((REPO / "specs" / "harnesses" / "mini.py").read_text("utf-8"), HELPERS)
calc, items, numbers, quoted, tail, last = (HELPERS[name] for name in ("calc", "items", "numbers", "quoted", "tail", "last"))


@pytest.mark.parametrize(
    ("reply", "answer"),
    [("So <answer> 42 </answer>.", "42"), ("<answer>4</answer> no, <answer>42</answer>", "42"), (" just 42\n", "just 42")],
)
def test_the_seed_asks_once_and_returns_the_last_tag_else_the_whole_reply(reply, answer):
    class Tools:
        asked: list = []

        def lm(self, text):
            self.asked.append(text)
            return reply

    tools = Tools()
    assert HELPERS["run"]("What is 6 * 7?", tools) == answer
    assert len(tools.asked) == 1 and tools.asked[0].startswith("What is 6 * 7?\n") and "<answer>" in tools.asked[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Solve the following multiplication: 465 * 731. Give only the result as your final answer.", 339915),
        ("State the final answer to the following arithmetic problem: 6.846 - 2.7 - 1.47 =", 2.676),
        ("Calculate -8 - -1 - -5 - 9 - 0 / 1.", -11),
        ("What is (2 + 3) * (4 - 1) ?", 15),
        ("The value (see 3 + 4) is asked", 7),
        ("What is 12 × 3 ÷ 4?", 9),
        ("a hexadecimal value (ex., -0x3).\n((0xbb39 * 0xa1d1) >> 0x3)", 0xECAF651),
        ("0.1 + 0.2", 0.3),
        ("Step 1: compute 2 ** 10 - 24", 1000),
    ],
)
def test_calc_finds_the_expression_and_gives_its_value(text, value):
    assert calc(text) == value and type(calc(text)) is type(value)


def test_calc_raises_where_there_is_no_expression():
    """So an edit that calculates where nothing can be calculated fails, and is not merely wrong."""
    with pytest.raises(ValueError):
        calc("Reverse this list of words: one, two")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the numbers: 802, 352. Give only the GCD.", [802, 352]),
        ("Compute -986.2793^4, to 3 significant figures", [-986.2793, 4, 3]),
        ("the largest of: 259077227.283000 407,757,357.626 4.5e+02", [259077227.283, 407757357.626, 450.0]),
        ("a 5-gon with 64.0°, starting with 0x, the 2nd of b12", [5, 64.0]),
        ("10-4", [10, 4]),
    ],
)
def test_numbers_gives_every_number_that_stands_alone(text, found):
    assert numbers(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a list with commas, e.g. word_1, word_2\n\nNow reverse: one, two, three", ["one", "two", "three"]),
        ("Sort these in descending order: 22.0, -1.0\nPlease follow:\n## 1. Use a list, not 1, 2", ["22.0", "-1.0"]),
        ("Letters: k, k, e.", ["k", "k", "e"]),
        ("One word: apple", ["apple"]),
    ],
)
def test_items_takes_the_list_that_ends_a_line_after_a_colon(text, found):
    assert items(text) == found


def test_tail_last_and_quoted_take_what_their_names_say():
    assert tail("Spell this word backward (example: sun -> nus): orgiac ") == "orgiac"
    assert last("First line.\n\n(1 + 2) = ?\n\n") == "(1 + 2) = ?"
    assert quoted('the letter "o" in the text: "it isn\'t so"') == ["o", "it isn't so"]
    assert quoted("in this list: ['68.7', '-24']") == ["68.7", "-24"]
