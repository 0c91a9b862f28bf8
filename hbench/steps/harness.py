"""The harness that a spec names, as a step of its own: h0."""

from collections.abc import Mapping

from hbench.core.digest import Json
from hbench.core.harness import Harness
from hbench.core.output import Artifact, Output
from hbench.core.protocols import Services

VERSION = 1


def harness(params: Json, inputs: Mapping[str, Artifact], services: Services) -> Output:
    """params: {"files": {path: text}}. Value: {"harness": {"files", "id"}}."""
    made = Harness(params["files"]).tidied()
    return Output({"harness": harness_value(made)}, {"harnesses": harness_rows(made)})


def harness_value(made: Harness) -> Json:
    """A harness as it stands in a step's value."""
    return {"files": dict(made.files), "id": made.id}


def harness_rows(made: Harness) -> list[dict[str, Json]]:
    """Its rows in the table `harnesses`: one a file."""
    return [
        {"harness_id": made.id, "path": path, "text": text, "lines": len(text.splitlines())}
        for path, text in made.files.items()
    ]


def harnesses_of(made: Artifact) -> dict[str, Json]:
    """Harness id -> the harness as it stands in a value, of every one among an artifact's rows."""
    files: dict[str, dict[str, str]] = {}
    for row in made.rows("harnesses"):
        files.setdefault(row["harness_id"], {})[row["path"]] = row["text"]
    return {name: {"files": found, "id": name} for name, found in files.items()}
