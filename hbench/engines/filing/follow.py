"""How far a plan has come, after the commands that were run."""

from collections.abc import Sequence
from dataclasses import dataclass

from hbench.engines.filing.commands import Unit, units
from hbench.engines.filing.plans import Asked, Lost


@dataclass(frozen=True, slots=True)
class Progress:
    """printed: what each finished line of the plan gave. part: units of the next line that are done already."""

    asked: Asked
    printed: tuple[str, ...] = ()
    part: int = 0

    def line(self) -> str | None:
        """The line of the plan that comes next; None behind its end. Raises Lost."""
        plan = self.asked.start()
        line = next(plan, None)
        for output in self.printed:
            try:
                line = plan.send(output)
            except StopIteration:
                return None
        return line

    def left(self) -> str | None:
        """What of that line is still to be done."""
        line = self.line()
        return line and " && ".join(line.split(" && ")[self.part :])

    def after(self, ran: Sequence[Unit], output: str) -> "Progress | None":
        """With these units done; None where they are not what comes next, in this order and nothing else."""
        at, ran = self, tuple(ran)
        while ran:
            wanted = at._wanted()
            count = min(len(wanted), len(ran))
            if not count or ran[:count] != wanted[:count]:
                return None
            ended = count == len(wanted)
            at = Progress(at.asked, (*at.printed, output), 0) if ended else Progress(at.asked, at.printed, at.part + count)
            ran = ran[count:]
        return at

    def _wanted(self) -> tuple[Unit, ...]:
        try:
            line = self.line()
        except Lost:
            return ()
        return (units(line) or ())[self.part :] if line else ()


def progress(asked: Asked, ran: Sequence[tuple[str, str]]) -> Progress:
    """After all that was run; commands that are no part of the plan are passed over."""
    at = Progress(asked)
    for command, output in ran:
        at = at.after(units(command) or (), output) or at
    return at
