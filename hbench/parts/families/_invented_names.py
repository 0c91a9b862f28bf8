"""Names that stand in no other text: syllables by number, one number a name, so that names never collide by chance."""

from functools import cache
from math import gcd

from hbench.core.digest import derive_seed

_ONSETS = "b br d dr f g gl gr h k kr l m n p r s sk t th tr v vr z".split()
_SYLLABLES = [onset + vowel for onset in _ONSETS for vowel in "aeiou"]
# The last consonants tell the kinds apart: no town is ever called like a river.
_ENDINGS = {
    "town": ("n", "rn", "ln", "m"),
    "river": ("s", "th", "sh"),
    "lake": ("l", "ll"),
    "company": ("x", "rx", "nx"),
    "book": ("d", "rd"),
    "instrument": ("r", "rr"),
    "school": ("ck", "lk"),
    "festival": ("f", "ft"),
    "notice": ("p", "mp"),
    "surname": ("sk", "nd", "ld", "tt", "rk"),
    "minor": ("bb", "gg", "dd"),
}
_FIRST = [a + b for a in "Br Dr Gl Gr Kr Th Tr Vr".split() for b in "a e i o u".split()]  # "Bra", "Dre" …
_FIRST_ENDINGS = "va sta rna lla mma nna ven rik dol mun bas tor".split()  # the first half ends in a: she
FIRST_NAMES = [start + end for start in _FIRST for end in _FIRST_ENDINGS]
_MASK = (1 << 64) - 1


class Dice:
    """A stream of small draws from one seed; the same in every process and every version of Python."""

    __slots__ = ("state",)

    def __init__(self, seed: int):
        self.state = seed & _MASK

    def roll(self, sides: int) -> int:
        """A draw in [0, sides), sides below 2**32."""
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) & _MASK
        return (self.state >> 32) % sides

    def pick(self, options):
        return options[self.roll(len(options))]


def mix(seed: int, number: int) -> int:
    """64 bits that look drawn (splitmix64): a hash of two numbers, fast enough for millions of facts."""
    z = (seed + (number + 1) * 0x9E3779B97F4A7C15) & _MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
    return z ^ (z >> 31)


@cache
def shuffle_of(size: int, seed: int) -> tuple[int, int]:
    """(a, b) such that n -> (a n + b) mod size is a permutation that spreads neighbours out."""
    a = max(1, int(size * (0.38 + 0.24 * (mix(seed, 0) % 1000) / 1000)))
    while gcd(a, size) != 1:
        a += 1
    return a, mix(seed, 1) % size


def shuffled(number: int, size: int, seed: int) -> int:
    """The place of `number` in a seeded permutation of range(size)."""
    a, b = shuffle_of(size, seed)
    return (a * number + b) % size


def word(kind: str, number: int, world: int, syllables: int = 3) -> str:
    """The `number`-th name of `kind`, capitalised. Distinct for distinct numbers below `room`."""
    place = shuffled(number, room(kind, syllables), _seed(world, kind))
    place, ending = divmod(place, len(_ENDINGS[kind]))
    spoken = ""
    for _ in range(syllables):
        place, syllable = divmod(place, len(_SYLLABLES))
        spoken += _SYLLABLES[syllable]
    return (spoken + _ENDINGS[kind][ending]).capitalize()


def room(kind: str, syllables: int = 3) -> int:
    """How many names of `kind` there are; three syllables: over three million."""
    return len(_SYLLABLES) ** syllables * len(_ENDINGS[kind])


def person(number: int, count: int, world: int) -> str:
    """First name and surname of person `number` of `count`; pairs never repeat, each half often does."""
    surnames = max(40, count // 3)
    place = shuffled(number, len(FIRST_NAMES) * surnames, _seed(world, "person"))
    surname, first = divmod(place, len(FIRST_NAMES))
    return f"{FIRST_NAMES[first]} {word('surname', surname, world, 2 if surnames < 20_000 else 3)}"


def is_she(name: str) -> bool:
    return name.split()[0].endswith("a")


@cache
def _seed(world: int, kind: str) -> int:
    return derive_seed("invented_hops", "names", world, kind)
