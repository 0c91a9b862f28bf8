"""The block `benchmark`: what lm-eval asks of a model before and after it is trained."""

from typing import Self

from pydantic import Field, field_validator

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.installed import installed_version
from hbench.parts.families import _lm_eval_files as files
from hbench.spec.block import Block, Whole, wrong
from hbench.spec.model_block import ModelBlock


class BenchmarkBlock(Block):
    """Tasks of lm-eval on the model that is trained, before and after: what training took away, or gave."""

    tasks: tuple[str, ...] = Field(
        min_length=1, description="lm-eval's names, of tasks or groups: arc_easy, mmlu …, or a YAML file's under parts/lm_eval."
    )
    shots: Whole | None = Field(None, ge=0, description="Solved examples before each question; null: as each task says.")
    limit: Whole | None = Field(None, ge=1, description="Only the first so many documents of each task; null: all.")
    seed: Whole = Field(
        1234, ge=0, description="Of the examples that are drawn; lm-eval's own default, so that scores are those of its command."
    )
    chat: bool = Field(
        False, description="Whether questions are put in the model's chat template; false: raw text, as most published scores."
    )

    @field_validator("tasks")
    @classmethod
    def _are_there(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value if installed_version("lm-eval") != "absent" else ():
            try:
                files.task_file(name)
            except HbenchError as error:
                raise wrong(str(error)) from None
        return value

    def limited(self, most: int) -> Self:
        """The same with at most `most` documents of each task."""
        return self.model_copy(update={"limit": min(most, self.limit or most)})

    def to_json(self) -> Json:
        """With what decides scores besides: lm-eval's version, and the files of tasks of one's own."""
        version = installed_version("lm-eval")
        there = version != "absent"
        own = {name: dict(files.digests_of(files.task_file(name))) for name in self.tasks if there}
        libraries = {"lm-eval": version} | {name: digests for name, digests in own.items() if digests}
        return {**super().to_json(), "libraries": libraries}


def check_benchmarked(block: BenchmarkBlock | None, model: ModelBlock, role: str) -> None:
    """Raises an author's mistake where a benchmark is to run on what is no model of weights."""
    if block and model.kind != "weights":
        raise wrong(f"benchmark: the {role} is no model of weights", "benchmark: null in this arm")
