"""What one word of `hbench eval` stands for: a harness, a family or domain, a model."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

from pydantic_core import PydanticCustomError

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.places import find_file, roots
from hbench.core.published import PREFIX
from hbench.parts.part import kinds, loadable
from hbench.spec.adapter import read_adapter
from hbench.spec.compose import merged, without
from hbench.spec.files import FolderSource, HarnessSource, read_folder, read_harness
from hbench.spec.lineage import find_spec, lineage
from hbench.spec.model_block import EMBEDDED, RULES
from hbench.spec.problems import COMMAND_LINE, did_you_mean
from hbench.spec.source import parse, read, shown
from hbench.spec.tree import Tree

OWN_MODEL = "model"  # what a model is called, under machine.models, that no file describes
SORTS = {"family": "families", "domain": "domains"}


def harness_source(word: str) -> HarnessSource | None:
    """The Python file `word`, or the one of that name under specs/, checked; None where there is neither."""
    tries = (word, f"{word}.py", f"harnesses/{word}", f"harnesses/{word}.py")
    if Path(word).is_file():
        return _said(lambda: read_harness(str(Path(word).resolve()))).model_copy(update={"name": shown(Path(word))})
    found = next((name for name in tries if find_file("specs", name)), None)
    return _said(lambda: read_harness(found)) if found else None


def harness_names() -> list[str]:
    """Harnesses under specs/harnesses."""
    return sorted({file.stem for root in roots("specs") for file in root.glob("harnesses/*.py")})


def bank_source(word: str) -> FolderSource | None:
    """The folder `word`, here or under specs/; None where there is none."""
    if Path(word).is_dir():
        return _said(lambda: read_folder(str(Path(word).resolve()))).model_copy(update={"name": shown(Path(word))})
    return _said(lambda: read_folder(word)) if any((root / word).is_dir() for root in roots("specs")) else None


def subject_tree(word: str, field: str) -> Tree:
    """Families and domains by: a block in braces, KIND/NAME, a file's name under specs/families or specs/domains, a kind, or a
    name that a kind lists. field: `family` or `domain`. Raises HbenchError."""
    sort = SORTS[field]
    kind, _, name = word.partition("/")
    if word.startswith("{"):
        return _block(word, field)
    if name and kind in kinds(sort):
        return _tree({field: {"kind": kind, "name": name}})
    if found := _file_that_sets(field, f"{sort}/{word}"):
        return found
    if word in kinds(sort):
        return _tree({field: {"kind": word}})
    if listing := next((k for k, names in _listed(sort) if word in names), None):
        return _tree({field: {"kind": listing, "name": word}})
    raise HbenchError(f"there is no {field} {word!r}{_hint(word, field)}")


def subject_names(field: str) -> list[str]:
    """What `subject_tree` knows by name."""
    sort = SORTS[field]
    files = {file.stem for root in roots("specs") for file in root.glob(f"{sort}/*.yaml")}
    mine = {name for name in files if _file_that_sets(field, f"{sort}/{name}")}
    return sorted({*kinds(sort), *mine, *(name for _, names in _listed(sort) for name in names)})


def model_tree(word: str, role: str) -> Tree:
    """A model, laid down as `role`: a name under specs/models, NAME@URL of a server, published/BUNDLE/ADAPTER, rules, a file of
    recorded replies, a folder of weights, or a Hugging Face name. Raises HbenchError."""
    if found := _file_of_model(word, role):
        return found
    if word.startswith(PREFIX):
        base = {k: v for k, v in (_said(lambda: read_adapter(word)).base or {}).items() if k not in ("kind", "adapter")}
        return _tree({role: {"name": OWN_MODEL, **base, "adapter": word}})
    if word in RULES:
        return _tree({role: {"kind": "rules", "name": word}})
    if word.endswith(".jsonl"):
        return _tree({role: {"kind": "recorded", "file": word}})
    weights, _, url = word.partition("@")
    if url:
        return _tree({role: _weights(weights), "machine": {"models": {OWN_MODEL: {"base_url": url}}}})
    if Path(word).is_dir():
        if not (Path(word) / "config.json").is_file():
            raise HbenchError(f"the folder {word} holds no config.json: it is no model's")
        return _tree({role: _weights(str(Path(word).resolve()))})
    if "/" in word and not word.startswith((".", "/", "~")):
        return _tree({role: _weights(word)})
    hint = did_you_mean(word, model_names()) or f"there are: {', '.join(model_names())}"
    told = "or NAME@URL of a server, a folder of weights, a Hugging Face name OWNER/NAME"
    raise HbenchError(f"there is no model {word!r} ({hint}; {told})")


def model_names() -> list[str]:
    """Models under specs/models, and those made of rules."""
    return sorted({*RULES, *(file.stem for root in roots("specs") for file in root.glob("models/*.yaml"))})


def _weights(weights: str) -> Json:
    """A hosted or downloaded model is what it is today: nothing pins it in a quick look."""
    pinned = {} if weights.startswith(EMBEDDED) else {"as_of": date.today().isoformat()}
    return {"name": OWN_MODEL, "weights": weights, **pinned}


def _file_of_model(word: str, role: str) -> Tree | None:
    """What a file under specs/models says of how to ask and reach its model, whichever role it has there."""
    file = find_spec(f"models/{word}") or (find_spec(word) if word.startswith("models/") else None)
    if file is None:
        return None
    tree = merged(lineage(file))
    block = next((tree.values[key] for key in ("solver", "student") if isinstance(tree.values.get(key), dict)), None)
    if block is None or "weights" not in block:
        block = (tree.values.get("let") or {}).get("reviewer")
    if not isinstance(block, dict):
        raise HbenchError(f"models/{word} describes no model that could be a {role}")
    machine = {"machine": tree.values["machine"]} if "machine" in tree.values else {}
    return _tree({role: block, **machine})


def _file_that_sets(field: str, name: str) -> Tree | None:
    """The fragment `name`, where it sets `field` itself: a list of names that merely extends one says not which."""
    file = find_spec(name)
    if file is None or not isinstance(read(file).tree.values.get(field), dict):
        return None
    return without(merged(lineage(file)), "plan", "measured", "splits", "behaviours")


def _block(text: str, field: str) -> Tree:
    source = parse(f"{field}: {text}\n", Path(COMMAND_LINE.file))
    if source.problems or not isinstance(source.tree.values.get(field), dict):
        said = source.problems[0].what if source.problems else "expected a mapping"
        raise HbenchError(f"{text!r} is no block of a {field}: {said}")
    return _tree({field: source.tree.values[field]})


def _listed(sort: str) -> Iterator[tuple[str, list[str]]]:
    """Kind -> the names that it lists."""
    return ((kind, part.names()) for kind, part in loadable(sort).items() if hasattr(part, "names"))


def _hint(word: str, field: str) -> str:
    other = "domain" if field == "family" else "family"
    if word in subject_names(other):
        return f": it is a {other}" + (", which `target` or a bank's folder works on" if other == "domain" else "")
    if find_spec(f"{SORTS[field]}/{word}"):
        return f": specs/{SORTS[field]}/{word}.yaml is a list of names, of which one is looked at"
    near = did_you_mean(word, subject_names(field))
    return f" ({near})" if near else f" (`hbench kinds {SORTS[field]}` tells what there is)"


def _tree(values: Json) -> Tree:
    return Tree(values, {(): COMMAND_LINE})


def _said(read_it: Any) -> Any:
    """What `read_it` gives; an author's mistake as a message."""
    try:
        return read_it()
    except PydanticCustomError as error:
        told = error.context or {}
        hint = f" ({told['hint']})" if told.get("hint") else ""
        raise HbenchError(f"{told.get('what', error)}{hint}") from None
