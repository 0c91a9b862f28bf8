"""What a practice skill is, and the draws that skills share."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from hbench.core.digest import Json

Draw = Callable[[Random], dict[str, Json]]

WORDS = (
    "apple river stone cloud silver garden window yellow music paper forest candle bridge winter rabbit orange market "
    "pencil ocean ladder copper marble letter castle honey basket dinner rocket velvet tiger anchor autumn badger bakery "
    "balloon barrel beacon bottle branch breeze button cabin camel carpet cedar cherry circle cobalt coffee cotton cradle "
    "dragon eagle engine fable falcon feather fiddle flame flute fossil galaxy ginger globe grape hammer harbor hazel "
    "helmet island jacket jungle kettle kitten lantern lemon lizard magnet maple meadow melon mirror monkey needle nickel "
    "olive onion otter panda parrot pebble pepper pillow planet pocket potato puzzle quartz quill raven ribbon saddle "
    "salmon school shadow sheep spider spoon statue stream summer table temple thunder ticket tomato tunnel turtle valley "
    "violin walnut whale willow wizard zebra ant bee cat cow dog elf fox hen ice jar key map net oak owl pig rat sea sun"
).split()


@dataclass(frozen=True, slots=True)
class Skill:
    """clause: what is asked, as in `your task is to …`. wordings: with {…} for what `draw` gives.

    solve: the answer from what was drawn; a list is written with commas, anything else as str() writes it.
    """

    clause: str
    wordings: tuple[str, ...]
    draw: Draw
    solve: Callable[..., Json]


def written(value: Json) -> str:
    """A list with commas, anything else as str() writes it."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def numbers(few: int = 3, many: int = 6, low: int = 1, high: int = 99) -> Draw:
    """x: `few` to `many` whole numbers."""
    return lambda dice: {"x": [dice.randint(low, high) for _ in range(dice.randint(few, many))]}


def number(low: int, high: int) -> Draw:
    """n: a whole number."""
    return lambda dice: {"n": dice.randint(low, high)}


def pair(first: tuple[int, int], second: tuple[int, int]) -> Draw:
    """a and b: whole numbers, each between its bounds."""
    return lambda dice: {"a": dice.randint(*first), "b": dice.randint(*second)}


def expression(dice: Random) -> dict[str, Json]:
    """e: two or three whole numbers with operators between them; its value is never below 0."""
    a, b, c = dice.randint(2, 60), dice.randint(2, 60), dice.randint(2, 30)
    forms = [f"{a} * {b}", f"{a + c} + {b} - {c}", f"({a} + {b}) * {c}", f"{a} * {b + c} - {c}", f"{a} + {b} * {c}"]
    return {"e": dice.choice(forms)}


def words(few: int = 3, many: int = 6) -> Draw:
    """x: `few` to `many` words, which may repeat."""
    return lambda dice: {"x": [dice.choice(WORDS) for _ in range(dice.randint(few, many))]}


def word(dice: Random) -> dict[str, Json]:
    """w: a word."""
    return {"w": dice.choice(WORDS)}


def made_up(dice: Random) -> dict[str, Json]:
    """w: three to twelve letters that make no word."""
    return {"w": "".join(dice.choice("aaabcdeeefghiijklmnooprstuuvw") for _ in range(dice.randint(3, 12)))}


def text(dice: Random) -> dict[str, Json]:
    """t: a text of four to eight words; a: a word, in half of the draws one of them."""
    said = [dice.choice(WORDS) for _ in range(dice.randint(4, 8))]
    return {"t": " ".join(said), "a": dice.choice(said if dice.random() < 0.5 else WORDS)}


def until(draw: Draw, fits: Callable[[dict[str, Json]], bool]) -> Draw:
    """The first draw that `fits`."""

    def drawn(dice: Random) -> dict[str, Json]:
        found = draw(dice)
        while not fits(found):
            found = draw(dice)
        return found

    return drawn
