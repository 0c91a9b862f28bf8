"""Many harnesses on their families' questions: each once, all at the same time, every rollout durable when it ends."""

import threading
from collections.abc import Mapping

from hbench.core.candidate import Candidate
from hbench.core.digest import Json
from hbench.core.failure import StepError
from hbench.core.harness import Harness
from hbench.core.output import Artifact
from hbench.core.protocols import Services
from hbench.core.question import Question
from hbench.core.rollout import Rollout
from hbench.steps._at_once import at_once
from hbench.steps._candidate_rows import Rows
from hbench.steps._rollout_rows import rollout_rows, rollouts_by_candidate
from hbench.steps.harness import harness_rows
from hbench.steps.run_setting import RunSetting, model_row
from hbench.steps.trial import trial


class Trials:
    """families: name -> how its harnesses are run, as an evaluate step takes it; inputs: `questions_<name>` of each."""

    def __init__(self, families: Mapping[str, Json], inputs: Mapping[str, Artifact], services: Services):
        self._settings = {name: RunSetting.of(block) for name, block in families.items()}
        self._questions = {
            name: [Question.from_json(one) for one in inputs[f"questions_{name}"].value] for name in families
        }
        self._services = services
        self._todo: dict[tuple[str, str], tuple[Harness, int]] = {}
        self._found: dict[tuple[str, str], tuple[Rollout, ...]] = {}

    def __len__(self) -> int:
        return len(self._todo)

    def add(self, family: str, harness: Harness, number: int) -> None:
        """To be run under this candidate number, unless the family has the same harness already."""
        self._todo.setdefault((family, harness.id), (harness, number))

    def run(self) -> None:
        """Runs what an earlier try has not finished. Raises StepError."""
        before = rollouts_by_candidate(self._services.part)
        total = sum(len(self._questions[family]) * self._settings[family].repeats for family, _ in self._todo)
        counted, ended = threading.Lock(), [0]

        def work(family: str, harness: Harness, number: int):
            setting, kept = self._settings[family], [r for r in before.get(number, ()) if r.harness_id == harness.id]

            def heard(rollout: Rollout) -> None:
                self._services.part.append(rollout_rows(rollout, setting.grade, number))
                with counted:
                    ended[0] += 1
                    self._services.report_progress(ended[0], total)

            with counted:
                ended[0] += len(kept)
            asked = Candidate(harness, "", harness)
            return trial(asked, self._questions[family], setting, self._services, heard, kept).rollouts

        todo = [(family, harness, number) for (family, _), (harness, number) in self._todo.items()]
        found = at_once([lambda one=one: work(*one) for one in todo])
        if trouble := next((one for one in found if isinstance(one, StepError)), None):
            raise trouble
        # Only grades are read from here on: what was said is a row.
        kept = [tuple(rollout.without_events() for rollout in rollouts) for rollouts in found]
        self._found = dict(zip(self._todo, kept, strict=True))

    def rollouts(self, family: str, harness: Harness) -> tuple[Rollout, ...]:
        """In question order, without their events."""
        return self._found[family, harness.id]

    def grade(self, family: str) -> str:
        """The name of the grade that counts as the score."""
        return self._settings[family].grade

    def rows(self) -> Rows:
        """Of the harnesses that were run, and the solver."""
        harnesses = {harness.id: harness for harness, _ in self._todo.values()}
        solvers = {setting.solver.digest: setting.solver for setting in self._settings.values()}
        return {
            "harnesses": [row for harness in harnesses.values() for row in harness_rows(harness)],
            "models": [model_row(solver, self._services.engine(solver)) for solver in list(solvers.values())[:1]],
        }
