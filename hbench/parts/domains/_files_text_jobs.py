"""Jobs of the domain `files` that make one text of another: counted, picked, ordered, added up."""

from collections.abc import Callable, Sequence

from hbench.parts.domains._files_dice import Dice, Drawn, Job, text


def _made(dice: Dice, source: Sequence[object], target: Sequence[object], **named: str | int) -> Drawn:
    """{a} holds `source`, {b} is to hold `target`."""
    a, b = dice.file(), dice.file()
    return Drawn({"a": a, "b": b, **named}, {a: text(source), **dice.others("txt")}, {b: text(target)})


def _of_lines(solve: Callable[[list[str]], list[object]]) -> Callable[[Dice], Drawn]:
    def draw(dice: Dice) -> Drawn:
        lines = dice.lines(3, 9)
        return _made(dice, lines, solve(lines))

    return draw


def _of_matches(solve: Callable[[list[str], list[str]], list[object]]) -> Callable[[Dice], Drawn]:
    """solve: of all lines, and of those that hold the word {w}."""

    def draw(dice: Dice) -> Drawn:
        word = dice.word()
        lines, held = dice.lines_with(word)
        return _made(dice, lines, solve(lines, held), w=word)

    return draw


def _of_words(solve: Callable[[list[str]], list[object]]) -> Callable[[Dice], Drawn]:
    def draw(dice: Dice) -> Drawn:
        words = dice.words(4, 7)
        return _made(dice, words, solve(words))

    return draw


def _of_numbers(solve: Callable[[list[int]], list[object]]) -> Callable[[Dice], Drawn]:
    def draw(dice: Dice) -> Drawn:
        numbers = dice.numbers(4, 7)
        return _made(dice, numbers, solve(numbers))

    return draw


def _of_part(cut: Callable[[list[str], int], list[object]]) -> Callable[[Dice], Drawn]:
    """cut: of the lines, and of how many {n} are wanted."""

    def draw(dice: Dice) -> Drawn:
        wanted = dice.between(2, 5)
        lines = dice.lines(wanted + 1, 8)
        return _made(dice, lines, cut(lines, wanted), n=wanted)

    return draw


def _without(lines: list[str], held: list[str]) -> list[str]:
    return [line for line in lines if line not in held]


def _column(dice: Dice) -> Drawn:
    headings = dice.random.sample(("city", "color", "size", "age", "team"), 3)
    rows = [[dice.word(), dice.word(), dice.word()] for _ in range(dice.between(3, 5))]
    place = dice.between(0, 2)
    a, b = dice.file("csv"), dice.file()
    table = [headings, *rows]
    named = {"a": a, "b": b, "c": headings[place]}
    files = {a: text([",".join(row) for row in table]), **dice.others("txt")}
    return Drawn(named, files, {b: text([row[place] for row in table])})


def _price(dice: Dice) -> Drawn:
    items = dice.words(4, 6)
    prices = dice.numbers(len(items), len(items))
    place = dice.between(0, len(items) - 1)
    a, b = dice.file("csv"), dice.file()
    rows = ["item,price", *(f"{item},{price}" for item, price in zip(items, prices, strict=True))]
    return Drawn({"a": a, "b": b, "w": items[place]}, {a: text(rows), **dice.others("txt")}, {b: text([prices[place]])})


def _joined(dice: Dice) -> Drawn:
    a, b, c = dice.file(), dice.file(), dice.file()
    first, second = dice.lines(1, 3), dice.lines(1, 3)
    files = {a: text(first), b: text(second), **dice.others("txt")}
    return Drawn({"a": a, "b": b, "c": c}, files, {c: text([*first, *second])})


def _replaced(dice: Dice) -> Drawn:
    old, new, a = dice.word(), dice.word(), dice.file()
    lines, _ = dice.lines_with(old)
    files = {a: text(lines), **dice.others("txt")}
    return Drawn({"a": a, "x": old, "y": new}, files, {a: text(lines).replace(old, new)})


JOBS = {
    "count_lines": Job(
        (
            "Write the number of lines of {a} to {b}.",
            "Count the lines of {a} and put the number in {b}.",
            "How many lines has {a}? Write the number to {b}.",
        ),
        _of_lines(lambda lines: [len(lines)]),
    ),
    "count_words": Job(
        (
            "Write the number of words of {a} to {b}.",
            "Count the words of {a} and put the number in {b}.",
            "How many words has {a}? Write the number to {b}.",
        ),
        _of_lines(lambda lines: [len(" ".join(lines).split())]),
    ),
    "count_matches": Job(
        (
            "Write the number of lines of {a} that contain {w} to {b}.",
            "Count the lines of {a} that contain {w} and put the number in {b}.",
            "How many lines of {a} contain {w}? Write the number to {b}.",
        ),
        _of_matches(lambda lines, held: [len(held)]),
    ),
    "count_without": Job(
        (
            "Write the number of lines of {a} that do not contain {w} to {b}.",
            "Count the lines of {a} that do not contain {w} and put the number in {b}.",
            "How many lines of {a} do not contain {w}? Write the number to {b}.",
        ),
        _of_matches(lambda lines, held: [len(lines) - len(held)]),
    ),
    "keep_matches": Job(
        (
            "Write the lines of {a} that contain {w} to {b}.",
            "Put all lines of {a} that contain {w} in {b}.",
            "Copy the lines that contain {w} from {a} to {b}.",
        ),
        _of_matches(lambda lines, held: held),
    ),
    "drop_matches": Job(
        (
            "Write the lines of {a} that do not contain {w} to {b}.",
            "Put all lines of {a} that do not contain {w} in {b}.",
            "Copy the lines that do not contain {w} from {a} to {b}.",
        ),
        _of_matches(_without),
    ),
    "sort_words": Job(
        (
            "Sort the lines of {a} from A to Z and write them to {b}.",
            "Write the lines of {a} in alphabetical order to {b}.",
        ),
        _of_words(sorted),
    ),
    "sort_down": Job(
        (
            "Sort the lines of {a} from Z to A and write them to {b}.",
            "Write the lines of {a} in reverse alphabetical order to {b}.",
        ),
        _of_words(lambda words: sorted(words, reverse=True)),
    ),
    "sort_numbers": Job(
        (
            "Sort the numbers of {a}, smallest first, and write them to {b}.",
            "Write the numbers of {a} to {b}, smallest first.",
        ),
        _of_numbers(sorted),
    ),
    "largest_number": Job(
        (
            "Write the largest number of {a} to {b}.",
            "Find the largest number of {a} and put it in {b}.",
            "Which number of {a} is the largest? Write it to {b}.",
        ),
        _of_numbers(lambda numbers: [max(numbers)]),
    ),
    "smallest_number": Job(
        (
            "Write the smallest number of {a} to {b}.",
            "Find the smallest number of {a} and put it in {b}.",
            "Which number of {a} is the smallest? Write it to {b}.",
        ),
        _of_numbers(lambda numbers: [min(numbers)]),
    ),
    "sum_numbers": Job(
        (
            "Write the sum of the numbers of {a} to {b}.",
            "Add up the numbers of {a} and put the sum in {b}.",
        ),
        _of_numbers(lambda numbers: [sum(numbers)]),
    ),
    "first_lines": Job(
        (
            "Write the first {n} lines of {a} to {b}.",
            "Copy the first {n} lines from {a} to {b}.",
        ),
        _of_part(lambda lines, wanted: lines[:wanted]),
    ),
    "last_lines": Job(
        (
            "Write the last {n} lines of {a} to {b}.",
            "Copy the last {n} lines from {a} to {b}.",
        ),
        _of_part(lambda lines, wanted: lines[-wanted:]),
    ),
    "column": Job(
        (
            "Write the column {c} of {a} to {b}, with its heading.",
            "Copy the column {c}, with its heading, from {a} to {b}.",
        ),
        _column,
    ),
    "look_up": Job(
        (
            "Look up the price of {w} in {a} and write the number to {b}.",
            "What is the price of {w} in {a}? Write the number to {b}.",
        ),
        _price,
    ),
    "join_files": Job(
        (
            "Join {a} and {b}, in this order, and write them to {c}.",
            "Write {a} and then {b} to {c}.",
        ),
        _joined,
    ),
    "replace_word": Job(
        (
            "Replace {x} by {y} everywhere in {a}.",
            "Change every {x} in {a} to {y}.",
        ),
        _replaced,
    ),
}
