"""What a run shows while it runs: a live line in a terminal, plain lines elsewhere."""

import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any, TextIO

from hbench.core.message import Reply
from hbench.core.rollout import Rollout

PLAIN_EVERY_S = 10.0


@dataclass
class Counts:
    """Totals of a run. reused: calls answered by the reply store."""

    steps: int = 0
    ran: int = 0
    cached: int = 0
    failed: int = 0
    spent: int = 0
    skipped: int = 0
    rollouts: int = 0
    calls: int = 0
    reused: int = 0
    tokens: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def finished(self) -> int:
        return self.ran + self.cached + self.failed + self.spent + self.skipped


class Progress:
    """Counts what happens and shows it. Safe from any thread; `close` ends the display."""

    def __init__(self, out: TextIO | None = None, quiet: bool = False):
        self.counts = Counts()
        self._out = out or sys.stderr
        self._lock = threading.Lock()
        self._under_way: dict[str, tuple[int, int]] = {}
        self._last_line = time.monotonic()
        self._live: Any = None
        self._quiet = quiet
        if not quiet and self._out.isatty():
            self._live = _live(self)

    def called(self, reply: Reply) -> None:
        with self._lock:
            self._add_calls(1, int(reply.reused), 0 if reply.reused else reply.completion_tokens)

    def asked(self, calls: int, completion_tokens: int) -> None:
        """Calls that another process put."""
        with self._lock:
            self._add_calls(calls, 0, completion_tokens)

    def rolled(self, rollout: Rollout) -> None:
        asked = [e for e in rollout.events if e.kind == "lm"]
        with self._lock:
            self.counts.rollouts += 1
            fresh = sum(e.completion_tokens for e in asked if not e.reused)
            self._add_calls(len(asked), sum(e.reused for e in asked), fresh)
        self.tick()

    def take_over(self, told: "Told") -> None:
        """What another process tells of its part: see `Told`."""
        with self._lock:
            self.counts.rollouts += told.counts.rollouts
            self._add_calls(told.counts.calls, told.counts.reused, told.counts.tokens)
        for label, done, total in told.under_way:
            self.step(label, done, total)
        for line in told.lines:
            self.say(line)
        self.tick()

    def _add_calls(self, calls: int, reused: int, tokens: int) -> None:
        self.counts.calls += calls
        self.counts.reused += reused
        self.counts.tokens += tokens

    def step(self, label: str, done: int, total: int) -> None:
        """How far a step under way is; done == total takes it off the list."""
        with self._lock:
            if done < total:
                self._under_way[label] = (done, total)
            else:
                self._under_way.pop(label, None)

    def ended(self, status: str, label: str) -> None:
        """A step ended as ran, cached, failed, spent or skipped."""
        with self._lock:
            setattr(self.counts, status, getattr(self.counts, status) + 1)
            self._under_way.pop(label, None)
        self.tick()

    def say(self, line: str) -> None:
        """One line that stays."""
        if self._live is not None:
            self._live.console.print(line, markup=False, highlight=False)
        elif not self._quiet:
            print(line, file=self._out, flush=True)

    def tick(self) -> None:
        """Plain mode: a line now and then."""
        if self._quiet or self._live is not None or time.monotonic() - self._last_line < PLAIN_EVERY_S:
            return
        self._last_line = time.monotonic()
        print(self.line(), file=self._out, flush=True)

    def line(self) -> str:
        """The state in one line: steps, rollouts, rates, time left."""
        c = self.counts
        seconds = max(time.monotonic() - c.started, 1e-6)
        early = c.ran < 8 or c.finished < c.steps / 10  # too little is known to foretell the rest
        left = "" if early or c.finished == c.steps else f", about {_span((c.steps - c.finished) * seconds / c.ran)} left"
        return (
            f"{c.finished}/{c.steps} steps ({c.cached} cached, {c.failed} failed), {c.rollouts} rollouts, "
            f"{c.calls} calls ({c.reused} reused), {c.tokens / seconds:.0f} tokens/s, {_span(seconds)}{left}"
        )

    def under_way(self) -> list[str]:
        with self._lock:
            return [f"{label}: {done}/{total}" for label, (done, total) in list(self._under_way.items())[:6]]

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


@dataclass(frozen=True)
class Told:
    """What became of a part of a run in another process since the last time. under_way: label, done, total."""

    counts: Counts
    under_way: tuple[tuple[str, int, int], ...]
    lines: tuple[str, ...]


class TellingProgress(Progress):
    """Shows nothing, and keeps what happens until it is taken."""

    def __init__(self) -> None:
        super().__init__(quiet=True)
        self._lines: list[str] = []
        self._ways: dict[str, tuple[int, int]] = {}

    def step(self, label: str, done: int, total: int) -> None:
        with self._lock:
            self._ways[label] = (done, total)

    def say(self, line: str) -> None:
        with self._lock:
            self._lines.append(line)

    def take(self) -> Told | None:
        """What is new; None when nothing is."""
        with self._lock:
            counts, self.counts = self.counts, Counts()
            ways, self._ways = self._ways, {}
            lines, self._lines = self._lines, []
        told = Told(counts, tuple((label, *way) for label, way in ways.items()), tuple(lines))
        return told if lines or ways or counts.rollouts or counts.calls else None


def _span(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _live(progress: Progress) -> Any:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    class View:
        def __rich__(self) -> Text:
            return Text("\n".join([progress.line(), *progress.under_way()]))

    live = Live(View(), console=Console(stderr=True), refresh_per_second=4, transient=True)
    live.start()
    return live
