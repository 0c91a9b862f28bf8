"""What one rollout may use."""

from dataclasses import asdict, dataclass

from hbench.core.digest import Json


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one rollout. The candidate's own fault when reached: `Failure("limits", …)`.

    wall_s and cpu_s count the harness's own time: a slow model server is waited for and is never its timeout.
    """

    wall_s: float = 10.0  # own wall time while no tool call is open
    cpu_s: float = 10.0  # own CPU time
    memory_mb: int = 512
    calls: int = 32  # tool calls of every sort
    tokens: int = 65_536  # completion tokens of all lm() calls
    output_chars: int = 65_536  # stdout, stderr and the answer, each
    message_chars: int = 1_000_000  # one message through the pipe
    python_s: float = 5.0  # one python() call, at most

    def to_json(self) -> Json:
        return asdict(self)
