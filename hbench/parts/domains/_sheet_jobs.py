"""Small spreadsheet jobs of our own: what is asked, drawn once, and for each case the sheets before and what changes."""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

Rows = list[list[Any]]
Changes = dict[tuple[str, str], Any]  # (sheet, cell) -> its value afterwards; None: empty

_ITEMS = tuple("anvil basket candle drum easel funnel goblet hammer inkwell jug kettle ladder mirror nail oar pail".split())
_PLACES = tuple("Arden Brook Carrow Dunmere Elmet Farrow Glen Holt".split())
_FIRST = tuple("Ada Bela Cora Dov Edda Finn Gita Hugo Ines Jona Kira Leo".split())
_LAST = tuple("Abbot Bright Crane Draper Eames Frost Grieve Harker Ivory Jessop Kemp Lorne".split())
_FIRST_DAY = datetime.datetime(2024, 1, 1)


@dataclass(frozen=True)
class Drawn:
    """instruction and position hold for every case. case: the sheets before, and what changes, from dice of its own."""

    instruction: str
    position: str
    case: Callable[[Random], tuple[Mapping[str, Rows], Changes]] = field(repr=False)


def _orders(dice: Random) -> Rows:
    """Item, quantity, price; no two rows have one of them in common."""
    count = dice.randint(5, 12)
    prices = [cents / 100 for cents in dice.sample(range(100, 9000), count)]
    return [list(row) for row in zip(dice.sample(_ITEMS, count), dice.sample(range(1, 41), count), prices)]


def _line_totals(dice: Random) -> Drawn:
    fee = dice.randint(2, 9)

    def case(dice: Random) -> tuple[Mapping[str, Rows], Changes]:
        orders = _orders(dice)
        after = {("Orders", f"D{row}"): round(n * price + fee, 2) for row, (_, n, price) in enumerate(orders, start=2)}
        return {"Orders": [["Item", "Quantity", "Price", "Total"], *orders]}, after

    asked = f"Each row of sheet Orders is an order. Fill column D with quantity times price plus a fee of {fee} for each."
    return Drawn(asked, "'Orders'!D2:D20", case)


def _count_above(dice: Random) -> Drawn:
    least = dice.randint(10, 30)

    def case(dice: Random) -> tuple[Mapping[str, Rows], Changes]:
        orders = _orders(dice)
        return {"Orders": [["Item", "Quantity", "Price"], *orders]}, {("Orders", "F2"): sum(n >= least for _, n, _ in orders)}

    return Drawn(f"How many orders on sheet Orders have a quantity of at least {least}? Write the number into F2.", "F2", case)


def _sum_by_place(dice: Random) -> Drawn:
    places = dice.sample(_PLACES, 4)

    def case(dice: Random) -> tuple[Mapping[str, Rows], Changes]:
        sales = [[dice.choice(places), dice.randint(5, 500)] for _ in range(dice.randint(8, 16))]
        sums = {place: sum(amount for where, amount in sales if where == place) for place in places}
        before = {"Sales": [["Place", "Amount"], *sales], "Summary": [["Place", "Sum"], *([place, None] for place in places)]}
        return before, {("Summary", f"B{row}"): sums[place] for row, place in enumerate(places, start=2)}

    asked = "Sheet Sales has an amount for a place in each row. Fill column B of sheet Summary with the sum of each place."
    return Drawn(asked, "'Summary'!B2:B5", case)


def _look_up(dice: Random) -> Drawn:
    missing = dice.choice(("unknown", "none", "not listed"))

    def case(dice: Random) -> tuple[Mapping[str, Rows], Changes]:
        listed = dice.sample(_ITEMS, 8)
        prices = {item: round(dice.uniform(1, 50), 2) for item in listed}
        wanted = [dice.choice(_ITEMS) for _ in range(dice.randint(5, 9))]
        before = {"Wanted": [["Item", "Price"], *([item, None] for item in wanted)]}
        before["Prices"] = [["Item", "Price"], *map(list, prices.items())]
        return before, {("Wanted", f"B{row}"): prices.get(item, missing) for row, item in enumerate(wanted, start=2)}

    asked = f"Fill column B of sheet Wanted with each item's price from sheet Prices, or with {missing} where it has none."
    return Drawn(asked, "'Wanted'!B2:B10", case)


def _sort(dice: Random) -> Drawn:
    column, way = dice.choice((1, 2)), dice.choice(("ascending", "descending"))

    def case(dice: Random) -> tuple[Mapping[str, Rows], Changes]:
        orders = _orders(dice)
        after = sorted(orders, key=lambda row: row[column], reverse=way == "descending")
        return {"Orders": [["Item", "Quantity", "Price"], *orders]}, _block("Orders", after)

    named = "BC"[column - 1]
    return Drawn(f"Sort the orders below the header of sheet Orders by column {named}, {way}.", "'Orders'!A2:C20", case)


def _drop_repeats(dice: Random) -> Drawn:
    sheet = dice.choice(("Guests", "Members", "Staff"))

    def case(dice: Random) -> tuple[Mapping[str, Rows], Changes]:
        names = [dice.choice(_FIRST) for _ in range(dice.randint(9, 14))]
        first = [[name] for name in dict.fromkeys(names)]
        return {sheet: [["Name"], *([name] for name in names)]}, _block(sheet, first + [[None]] * (len(names) - len(first)))

    asked = f"Remove repeated names from column A of sheet {sheet}: keep each name where it comes first, and leave no gaps."
    return Drawn(asked, f"'{sheet}'!A2:A20", case)


def _split_names(dice: Random) -> Drawn:
    comma = dice.random() < 0.5

    def case(dice: Random) -> tuple[Mapping[str, Rows], Changes]:
        people = [(dice.choice(_FIRST), dice.choice(_LAST)) for _ in range(dice.randint(4, 9))]
        names = [f"{last}, {first}" if comma else f"{first} {last}" for first, last in people]
        before = {"People": [["Name", "First", "Last"], *([name] for name in names)]}
        return before, _block("People", [list(person) for person in people], "B")

    asked = "Split the names in column A of sheet People: the first name goes into column B, the last name into column C."
    return Drawn(asked, "'People'!B2:C12", case)


def _due_dates(dice: Random) -> Drawn:
    days = dice.choice((14, 30, 45))

    def case(dice: Random) -> tuple[Mapping[str, Rows], Changes]:
        sent = [_FIRST_DAY + datetime.timedelta(days=dice.randint(0, 700)) for _ in range(dice.randint(4, 9))]
        bills = [[f"B{number}", day] for number, day in enumerate(sent, start=dice.randint(100, 900))]
        after = {("Bills", f"C{row}"): day + datetime.timedelta(days=days) for row, day in enumerate(sent, start=2)}
        return {"Bills": [["Bill", "Sent", "Due"], *bills]}, after

    return Drawn(f"Each bill on sheet Bills is due {days} days after it was sent. Fill column C with the dates.", "C2:C12", case)


def _label(dice: Random) -> Drawn:
    low, high = dice.randint(35, 50), dice.randint(70, 85)

    def case(dice: Random) -> tuple[Mapping[str, Rows], Changes]:
        marks = [[name, dice.randint(10, 99)] for name in dice.sample(_FIRST, dice.randint(5, 10))]
        words = ["low" if mark < low else "high" if mark > high else "middle" for _, mark in marks]
        return {"Marks": [["Name", "Mark", "Label"], *marks]}, _block("Marks", [[word] for word in words], "C")

    asked = f"Fill column C of sheet Marks: low for a mark below {low}, high for one above {high}, middle for all others."
    return Drawn(asked, "'Marks'!C2:C12", case)


def _block(sheet: str, rows: Rows, first: str = "A") -> Changes:
    """The rows from row 2 on, side by side from column `first`."""
    return {
        (sheet, f"{chr(ord(first) + column)}{row}"): value
        for row, values in enumerate(rows, start=2)
        for column, value in enumerate(values)
    }


JOBS: dict[str, Callable[[Random], Drawn]] = {
    "line_totals": _line_totals,
    "count_above": _count_above,
    "sum_by_place": _sum_by_place,
    "look_up": _look_up,
    "sort": _sort,
    "drop_repeats": _drop_repeats,
    "split_names": _split_names,
    "due_dates": _due_dates,
    "label": _label,
}
