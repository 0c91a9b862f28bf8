"""Practice skills with single numbers, pairs, angles and expressions."""

import math
from random import Random

from hbench.core.digest import Json
from hbench.parts.families._practice_skill import Skill, expression, number, pair


def _multiple_or_not(dice: Random) -> dict[str, Json]:
    b = dice.randint(2, 30)
    return {"a": b * dice.randint(2, 30) + (dice.randint(1, b - 1) if dice.random() < 0.5 else 0), "b": b}


def _perhaps_prime(dice: Random) -> dict[str, Json]:
    primes = [n for n in range(2, 600) if _is_prime(n)]
    return {"n": dice.choice(primes) if dice.random() < 0.5 else dice.randint(4, 600)}


def _is_prime(n: int) -> bool:
    return all(n % d for d in range(2, math.isqrt(n) + 1))


def _value(e: str) -> int:
    return eval(e)  # our own text: numbers and operators


SINGLE = {
    "factorial": Skill(
        "compute a factorial",
        ("Compute the factorial of {n}.", "What is {n}! (factorial)?", "Give the factorial of the number {n}."),
        number(2, 70),
        lambda n: math.factorial(n),
    ),
    "integer_root": Skill(
        "find the integer square root of a number",
        (
            "What is the integer part of the square root of {n}?",
            "Find the integer square root of {n}.",
            "Take the square root of {n} and round it down.",
        ),
        number(2, 5000),
        lambda n: math.isqrt(n),
    ),
    "square": Skill(
        "square a number",
        ("Square the number {n}.", "What is {n} times itself?", "Compute the square of {n}. Give only the result."),
        number(2, 999),
        lambda n: n * n,
    ),
    "to_binary": Skill(
        "write a number in binary",
        ("Write the number {n} in binary.", "What is the binary form of {n}?", "Convert {n} to binary."),
        number(2, 2000),
        lambda n: f"{n:b}",
    ),
    "to_hex": Skill(
        "write a number in hexadecimal, starting with 0x",
        (
            "Write the number {n} in hexadecimal, starting with 0x.",
            "What is {n} as a hexadecimal number (with 0x)?",
            "Convert {n} to hexadecimal. Begin the answer with 0x.",
        ),
        number(17, 99999),
        lambda n: hex(n),
    ),
    "from_binary": Skill(
        "convert a binary number to decimal",
        (
            "What is the binary number {n} in decimal?",
            "Convert the binary number {n} to decimal.",
            "Read {n} as a binary number and give its value.",
        ),
        lambda dice: {"n": f"{dice.randint(9, 1000):b}"},
        lambda n: int(n, 2),
    ),
    "digit_sum": Skill(
        "add up the digits of a number",
        ("What is the sum of the digits of {n}?", "Add the digits of {n}.", "Compute the digit sum of the number {n}."),
        number(10, 999999),
        lambda n: sum(map(int, str(n))),
    ),
    "count_zeros": Skill(
        "count the zeros in a number",
        (
            "How many zeros does the number {n} contain?",
            "Count the zeros among the digits of {n}.",
            "How often does the digit zero appear in {n}?",
        ),
        lambda dice: {"n": int("".join(dice.choice("0012345") for _ in range(6)) + dice.choice("0123")) + 10**7},
        lambda n: str(n).count("0"),
    ),
    "is_prime": Skill(
        "say whether a number is prime, True or False",
        (
            "Is {n} a prime number? Answer True or False.",
            "Answer True if {n} is prime, else False.",
            "True or False: the number {n} is prime.",
        ),
        _perhaps_prime,
        lambda n: _is_prime(n),
    ),
    "divisor_count": Skill(
        "count the divisors of a number",
        (
            "How many divisors does {n} have?",
            "Count the divisors of {n}.",
            "By how many whole numbers can {n} be divided without a rest?",
        ),
        number(2, 400),
        lambda n: sum(n % d == 0 for d in range(1, n + 1)),
    ),
    "scientific": Skill(
        "write a number in scientific notation with two decimals",
        (
            "Write {n} in scientific notation with two decimals.",
            "Give the number {n} in e notation, with two decimals.",
            "What is {n} in scientific notation (two decimals, with e)?",
        ),
        number(1000, 99999999),
        lambda n: f"{n:.2e}",
    ),
    "polygon_sum": Skill(
        "add up the interior angles of a polygon",
        (
            "What is the sum of the interior angles of a polygon with {n} sides?",
            "A convex polygon has {n} sides. Add up its interior angles.",
            "How many degrees do the angles of a {n}-gon have together?",
        ),
        number(3, 120),
        lambda n: 180 * (n - 2),
    ),
}

PAIRS = {
    "triangle_angle": Skill(
        "find the third angle of a triangle",
        (
            "Two angles of a triangle are {a}° and {b}°. How large is the third one?",
            "A triangle has the angles {a}° and {b}°. Find the missing angle.",
            "Find the third angle of a triangle whose other angles are: {a}°, {b}°.",
        ),
        pair((10, 90), (10, 80)),
        lambda a, b: 180 - a - b,
    ),
    "remainder": Skill(
        "find the remainder of a division",
        (
            "What is the remainder of {a} divided by {b}?",
            "Compute {a} mod {b}.",
            "Divide {a} by {b} and give the remainder.",
        ),
        pair((2, 900), (2, 60)),
        lambda a, b: a % b,
    ),
    "divisible": Skill(
        "say whether one number divides another, True or False",
        (
            "Is {a} divisible by {b}? Answer True or False.",
            "Answer True if {a} can be divided by {b} without a rest, else False.",
            "True or False: {a} is a multiple of {b}.",
        ),
        _multiple_or_not,
        lambda a, b: a % b == 0,
    ),
    "permutations": Skill(
        "count ordered choices",
        (
            "In how many ways can you line up {b} of {a} people?",
            "Count the permutations of {a} things taken {b} at a time.",
            "How many ordered picks of {b} are there from {a} cards?",
        ),
        pair((6, 60), (2, 5)),
        lambda a, b: math.perm(a, b),
    ),
    "combinations": Skill(
        "count unordered choices",
        (
            "In how many ways can you choose {b} of {a} people?",
            "Count the combinations of {a} things taken {b} at a time.",
            "How many hands of {b} cards are there from {a} cards?",
        ),
        pair((6, 60), (2, 5)),
        lambda a, b: math.comb(a, b),
    ),
    "sum_range": Skill(
        "add up all whole numbers of a range",
        (
            "Add up all whole numbers from {a} to {b}.",
            "What is the sum of the numbers from {a} to {b} (inclusive)?",
            "Compute the total of every number between {a} and {b}, both included.",
        ),
        pair((1, 50), (60, 300)),
        lambda a, b: sum(range(a, b + 1)),
    ),
}

EXPRESSIONS = {
    "work_out": Skill(
        "work out an expression",
        (
            "Work out {e} .",
            "What is the value of {e} ?",
            "Solve the following problem: {e} =",
            "Compute {e}. Give only the result as your final answer.",
        ),
        expression,
        lambda e: _value(e),
    ),
    "last_digit": Skill(
        "find the last digit of an expression",
        (
            "Give the last digit of {e} .",
            "What is the last digit of {e} ?",
            "Compute {e} and return the last digit of the result.",
        ),
        expression,
        lambda e: _value(e) % 10,
    ),
    "negative": Skill(
        "find the negative of an expression",
        (
            "Give the negative of {e} .",
            "Multiply the value of {e} by minus one.",
            "Compute {e} and change the sign of the result.",
        ),
        expression,
        lambda e: -_value(e),
    ),
    "double_value": Skill(
        "double the value of an expression",
        ("Compute {e} and double the result.", "What is twice the value of {e} ?", "Double the value of {e} ."),
        expression,
        lambda e: 2 * _value(e),
    ),
    "binary_of_value": Skill(
        "write the value of an expression in binary",
        (
            "Compute {e} and write the result in binary.",
            "What is the value of {e} in binary?",
            "Give {e} as a binary number.",
        ),
        expression,
        lambda e: f"{_value(e):b}",
    ),
}

SKILLS = {**SINGLE, **PAIRS, **EXPRESSIONS}
