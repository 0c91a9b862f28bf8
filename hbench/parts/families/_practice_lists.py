"""Practice skills with lists of whole numbers."""

import math
import statistics
from random import Random

from hbench.core.digest import Json
from hbench.parts.families._practice_skill import Skill, numbers, until

_LIST = numbers()


def _threshold(dice: Random) -> dict[str, Json]:
    return {"t": dice.randint(20, 80), **_LIST(dice)}


SKILLS = {
    "largest_number": Skill(
        "find the largest of some numbers",
        (
            "Find the largest of these numbers: {x}",
            "Which number is the largest: {x}",
            "Here are numbers: {x}. Give the largest one.",
        ),
        _LIST,
        lambda x: max(x),
    ),
    "smallest_number": Skill(
        "find the smallest of some numbers",
        (
            "Find the smallest of these numbers: {x}",
            "Which number is the smallest: {x}",
            "Here are numbers: {x}. Give the smallest one.",
        ),
        _LIST,
        lambda x: min(x),
    ),
    "sum_list": Skill(
        "add up a list of numbers",
        (
            "Add up these numbers: {x}",
            "What is the sum of this list: {x}",
            "Compute the total of {x}. Give only the total as your final answer.",
        ),
        _LIST,
        lambda x: sum(x),
    ),
    "product_list": Skill(
        "multiply all numbers of a list",
        (
            "Multiply these numbers: {x}",
            "What is the product of this list: {x}",
            "Compute the product of {x}. Give only the result as your final answer.",
        ),
        numbers(3, 5, 2, 20),
        lambda x: math.prod(x),
    ),
    "number_range": Skill(
        "take the smallest number from the largest",
        (
            "What is the difference between the largest and smallest of: {x}",
            "Find the range of these numbers: {x}",
            "Take the smallest from the largest of {x}.",
        ),
        _LIST,
        lambda x: max(x) - min(x),
    ),
    "count_even": Skill(
        "count the even numbers",
        (
            "How many of these numbers are even: {x}",
            "Count the even numbers in this list: {x}",
            "Here are numbers: {x}. How many are even?",
        ),
        _LIST,
        lambda x: sum(n % 2 == 0 for n in x),
    ),
    "keep_even": Skill(
        "keep the even numbers of a list",
        (
            "Keep only the even numbers: {x}",
            "Remove the odd numbers from this list: {x}",
            "Here are numbers: {x}. Return the even ones as a comma-separated list.",
        ),
        until(numbers(4, 7), lambda drawn: any(n % 2 == 0 for n in drawn["x"])),
        lambda x: [n for n in x if n % 2 == 0],
    ),
    "sum_squares": Skill(
        "add up the squares of some numbers",
        (
            "Give the sum of the squares of these numbers: {x}",
            "Square these numbers and add them: {x}",
            "What do the squares of {x} add up to?",
        ),
        _LIST,
        lambda x: sum(n * n for n in x),
    ),
    "median_number": Skill(
        "find the median of some numbers",
        (
            "Find the median of these numbers: {x}",
            "Which number is in the middle when this list is sorted: {x}",
            "What is the median of {x}?",
        ),
        until(numbers(3, 7), lambda drawn: len(drawn["x"]) % 2 == 1),
        lambda x: statistics.median(x),
    ),
    "second_largest": Skill(
        "find the second largest of some numbers",
        (
            "Find the second largest of these numbers: {x}",
            "Which number comes right after the largest one: {x}",
            "Give the second largest number of {x}.",
        ),
        until(numbers(3, 6), lambda drawn: len(set(drawn["x"])) == len(drawn["x"])),
        lambda x: sorted(x)[-2],
    ),
    "count_above": Skill(
        "count the numbers above a limit",
        (
            "How many of these numbers are larger than {t}: {x}",
            "Count the numbers above {t} in this list: {x}",
            "The limit is {t}. Count the numbers above the limit: {x}",
        ),
        _threshold,
        lambda t, x: sum(n > t for n in x),
    ),
    "descending_numbers": Skill(
        "sort whole numbers from large to small",
        (
            "Sort these numbers from large to small: {x}",
            "Put this list in descending order: {x}",
            "Write these numbers with the largest first: {x}",
        ),
        _LIST,
        lambda x: sorted(x, reverse=True),
    ),
    "reverse_numbers": Skill(
        "reverse a list of numbers",
        (
            "Reverse this list of numbers: {x}",
            "Give these numbers in reverse order: {x}",
            "Write this list from its end to its start: {x}",
        ),
        _LIST,
        lambda x: x[::-1],
    ),
    "double_each": Skill(
        "double each number of a list",
        (
            "Double each of these numbers: {x}",
            "Multiply every number by two: {x}",
            "Write this list with each number doubled: {x}",
        ),
        _LIST,
        lambda x: [2 * n for n in x],
    ),
}
