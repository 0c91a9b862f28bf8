"""What steps are for: the spec, arm, family, seed, round and purpose under which plans hold them."""

from collections.abc import Iterable
from dataclasses import dataclass

from hbench.view.reading import Asked


@dataclass(frozen=True)
class Place:
    """One of the labels of a step. round, slot: None where none is meant."""

    spec_digest: str
    spec: str
    arm: str
    family: str
    seed: int
    round: int | None
    slot: int | None
    purpose: str
    label: str

    @property
    def where(self) -> str:
        """Spec, arm and family, for people."""
        return " · ".join(filter(None, (self.spec, self.arm, self.family)))

    @property
    def of_arm(self) -> tuple[str, str, str, int]:
        """What one curve of rounds is about."""
        return self.spec_digest, self.arm, self.family, self.seed


COLUMNS = "sp.spec_digest, sp.name as spec, l.arm, l.family, l.seed, l.round, l.slot, l.purpose, l.label"

# Also of runs that go on or were stopped: the views only know finished ones.
PLACED = """
from run_steps as done
join runs as r on r.run_id = done.run_id
join specs as sp on sp.spec_digest = r.spec_digest
join plan_labels as l on l.spec_digest = r.spec_digest and l.step_id = done.step_id
"""


def places(reading: Asked, step_keys: Iterable[str]) -> dict[str, tuple[Place, ...]]:
    """Step key -> its labels, sorted; a step that no plan holds any more has none."""
    wanted = list(dict.fromkeys(step_keys))
    found: dict[str, list[Place]] = {key: [] for key in wanted}
    sql = f"select distinct done.step_key, {COLUMNS} {PLACED} where done.step_key in (select unnest(?)) order by all"
    for row in reading.rows(sql, [wanted]) if wanted else ():
        found[row.pop("step_key")].append(Place(**row))
    return {key: tuple(each) for key, each in found.items()}


def of_round(reading: Asked, place: Place) -> list[tuple[Place, str]]:
    """Every step of the same spec, arm, family, seed and round that was done, with its key; those of other slots left out."""
    sql = (
        f"select distinct done.step_key, {COLUMNS} {PLACED} where done.step_key is not null and l.spec_digest = ? "
        "and l.arm = ? and l.family = ? and l.seed = ? and l.round is not distinct from ? "
        "and (l.slot is null or l.slot is not distinct from ?) order by all"
    )
    values = [*place.of_arm, place.round, place.slot]
    return [(Place(**{k: v for k, v in row.items() if k != "step_key"}), row["step_key"]) for row in reading.rows(sql, values)]
