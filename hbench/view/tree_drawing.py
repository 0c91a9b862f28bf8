"""Where the harnesses of a tree stand in a drawing: rounds from left to right, scores upwards, failed edits below."""

from dataclasses import dataclass

from hbench.view.harness_tree import Leaf, Round, Tree

LEFT, TOP, HEIGHT, FAILED = 44, 14, 190, 30  # pixels; FAILED: room below for edits that failed
ROUND, BESIDE = 112, 8  # a round's width, and that of one candidate more where a round has many


@dataclass(frozen=True)
class Dot:
    """One harness, or an edit that failed. sort: parent, chosen, candidate, failed or last."""

    x: float
    y: float
    sort: str
    told: str
    harness_id: str | None
    leaf: Leaf | None = None


@dataclass(frozen=True)
class Drawing:
    """lines: x1, y1, x2, y2 and whether it is the way that was taken. ticks: y and the score there. rounds: x and number."""

    width: float
    height: float
    dots: tuple[Dot, ...]
    lines: tuple[tuple[float, float, float, float, bool], ...]
    ticks: tuple[tuple[float, str], ...]
    rounds: tuple[tuple[float, int], ...]
    failed_y: float | None


def drawing(tree: Tree) -> Drawing:
    """For an SVG of its width and height."""
    pen = _Pen(*_range(tree), max((len(each.leaves) for each in tree.rounds), default=0))
    for at, each in enumerate(tree.rounds):
        pen.round(at, each, tree.rounds[at + 1] if at + 1 < len(tree.rounds) else None)
    failed = any(leaf.score is None for each in tree.rounds for leaf in each.leaves)
    steps = [pen.low + (pen.high - pen.low) * k / 4 for k in range(5)]
    return Drawing(
        width=LEFT + pen.width * len(tree.rounds) + 24,
        height=TOP + HEIGHT + (FAILED if failed else 0) + 22,
        dots=tuple(sorted(pen.dots, key=lambda dot: dot.sort in ("chosen", "parent", "last"))),
        lines=tuple(sorted(pen.lines, key=lambda line: line[4])),
        ticks=tuple((pen.y(score), f"{score:.2f}") for score in steps),
        rounds=tuple((LEFT + pen.width * (at + 0.3), each.number) for at, each in enumerate(tree.rounds)),
        failed_y=TOP + HEIGHT + FAILED - 8 if failed else None,
    )


def _range(tree: Tree) -> tuple[float, float]:
    scores = [s for each in tree.rounds for s in (each.score, *(leaf.score for leaf in each.leaves)) if s is not None]
    low, high = min(scores, default=0.0), max(scores, default=1.0)
    if high - low < 0.05:
        low, high = max(0.0, low - 0.05), min(1.0, high + 0.05)
    return low, high


class _Pen:
    """Draws round by round."""

    def __init__(self, low: float, high: float, most: int):
        """most: how many candidates a round has."""
        self.low, self.high = low, high
        self.width = max(ROUND, BESIDE * most + 60)
        self.dots: list[Dot] = []
        self.lines: list[tuple[float, float, float, float, bool]] = []

    def y(self, score: float | None) -> float:
        if score is None:
            return TOP + HEIGHT + FAILED - 8
        return TOP + HEIGHT * (1 - (score - self.low) / (self.high - self.low))

    def round(self, at: int, each: Round, after: Round | None) -> None:
        """The parent, its candidates, and the way to the next round's parent."""
        x, y = LEFT + self.width * at + 8, self.y(each.score)
        self.dots.append(Dot(x, y, "parent", f"round {each.number}, parent: {_told(each.score)}", each.parent_id))
        beyond = (LEFT + self.width * (at + 1) + 8, self.y(after.score)) if after and after.score is not None else None
        for place, leaf in enumerate(each.leaves):
            self._leaf((x, y), self._place(x, place, len(each.leaves)), leaf, beyond)
        if each.kept_parent and beyond:
            self.lines.append((x, y, *beyond, True))

    def _place(self, x: float, place: int, of: int) -> float:
        """Candidates with equal scores stand beside each other."""
        return x + self.width * 0.55 + BESIDE * (place - (of - 1) / 2)

    def _leaf(self, start: tuple[float, float], x: float, leaf: Leaf, beyond: tuple[float, float] | None) -> None:
        y = self.y(leaf.score)
        sort = "failed" if leaf.score is None else "chosen" if leaf.chosen else "candidate"
        self.lines.append((*start, x, y, leaf.chosen))
        if leaf.chosen and beyond:
            self.lines.append((x, y, *beyond, True))
        told = f"candidate {leaf.slot}: {leaf.outcome if leaf.score is None else _told(leaf.score)}"
        self.dots.append(Dot(x, y, sort, told, leaf.harness_id, leaf))


def _told(score: float | None) -> str:
    return "not scored" if score is None else f"score {score:.3f}"
