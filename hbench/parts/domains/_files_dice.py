"""What a small shell job is, and the draws that jobs share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class Drawn:
    """One job. named: what its wordings name. files: path -> text before. changes: path -> text after, None: gone.

    `files` holds more than the job needs; what `changes` does not name stays as it is.
    """

    named: Mapping[str, str | int]
    files: Mapping[str, str]
    changes: Mapping[str, str | None]


class Dice:
    """Draws of one job. No word comes twice in it, so a name or a word to look for means one thing."""

    def __init__(self, random: Random, words: Sequence[str]):
        self.random = random
        self._words = random.sample(list(words), len(words))

    def word(self) -> str:
        return self._words.pop()

    def words(self, few: int, many: int) -> list[str]:
        return [self.word() for _ in range(self.between(few, many))]

    def between(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def file(self, ending: str = "txt") -> str:
        return f"{self.word()}.{ending}"

    def lines(self, few: int, many: int) -> list[str]:
        """Lines of two words each."""
        return [f"{self.word()} {self.word()}" for _ in range(self.between(few, many))]

    def lines_with(self, word: str) -> tuple[list[str], list[str]]:
        """Five to eight lines, and those of them that hold `word`: two at least, and two do not."""
        lines = self.lines(5, 8)
        held = set(self.random.sample(range(len(lines)), self.between(2, len(lines) - 2)))
        written = [self._with(word, line) if place in held else line for place, line in enumerate(lines)]
        return written, [written[place] for place in sorted(held)]

    def numbers(self, few: int, many: int) -> list[int]:
        """Different numbers of one to three digits, so that the order of texts is not that of numbers."""
        count = self.between(few, many) - 2
        small, large = self.between(2, 9), self.between(100, 199)
        drawn = [small, large, *self.random.sample(range(10, 99), count)]
        return self.random.sample(drawn, len(drawn))

    def others(self, *endings: str) -> dict[str, str]:
        """Files that a job must leave alone, one for each ending."""
        return {self.file(ending): text(self.lines(1, 2)) for ending in endings}

    def _with(self, word: str, line: str) -> str:
        first, last = line.split()
        return self.random.choice((f"{word} {last}", f"{first} {word}"))


@dataclass(frozen=True, slots=True)
class Job:
    """A kind of job. wordings: with {…} for what `draw` names."""

    wordings: tuple[str, ...]
    draw: Callable[[Dice], Drawn]


def text(lines: Sequence[object]) -> str:
    """One a line, the last line ended."""
    return "".join(f"{line}\n" for line in lines)
