"""Files that a spec names, read when the spec is read: prompts, harness sources, recorded replies."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.harness import ENTRY, Harness, no_entry
from hbench.core.places import find_file, roots
from hbench.core.syntax import parse
from hbench.core.text_folder import texts_in
from hbench.spec.block import wrong
from hbench.spec.problems import did_you_mean


class NamedFile(BaseModel):
    """name: as the spec has it. digest: of everything in the file that can change a result."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str
    digest: str

    def to_json(self) -> Json:
        return {"name": self.name, "digest": self.digest}


class HarnessSource(NamedFile):
    """The text of a harness: read, never imported. digest: the harness id."""

    text: str

    def files(self) -> dict[str, str]:
        """path -> text: a harness of one file."""
        return {ENTRY: self.text}


class FolderSource(NamedFile):
    """A harness of several files, or guidance: read, never imported. digest: the harness id. texts: path -> text."""

    texts: dict[str, str]

    def files(self) -> dict[str, str]:
        """path -> text."""
        return dict(self.texts)


class RecordedFile(NamedFile):
    """path: where it was found."""

    path: Path


_readers: list[Any] = []


def remembered(read: Any) -> Any:
    """`read`, which asks the disk once for each name until `forget` is called."""
    _readers.append(cache(read))
    return _readers[-1]


@remembered
def read_prompt(name: str) -> NamedFile:
    """The prompt prompts/<name>.j2, checked; its digest covers what it includes."""
    from hbench.core.prompt import load_prompt

    try:
        prompt = load_prompt(name)
    except HbenchError as error:
        raise wrong("; ".join(str(error).splitlines())) from None
    return NamedFile(name=name, digest=prompt.digest)


@remembered
def read_harness(name: str) -> HarnessSource:
    """The file `name` under specs/, which must be Python."""
    path, content = _read(name, "harnesses/*.py")
    try:
        text = content.decode("utf-8-sig")
        parse(text)
    except UnicodeDecodeError:
        raise wrong(f"{name} is not UTF-8 text") from None
    except (SyntaxError, ValueError, RecursionError) as error:
        line = f"line {error.lineno}: " if isinstance(error, SyntaxError) and error.lineno else ""
        raise wrong(f"{name} is not Python: {line}{getattr(error, 'msg', error)}") from None
    if lacking := no_entry(text):
        raise wrong(f"{name} is no harness: {lacking}", "harnesses/seed.py is one to begin with")
    return HarnessSource(name=name, digest=Harness.of(text).id, text=text)


@remembered
def read_recorded(name: str) -> RecordedFile:
    """The file of recorded replies `name` under specs/."""
    path, content = _read(name, "replies/*.jsonl")
    return RecordedFile(name=name, digest=hashlib.sha256(content).hexdigest(), path=path)


@remembered
def read_folder(name: str) -> FolderSource:
    """The text files of the folder `name` under specs/, such as a bank or guidance."""
    folder = next((root / name for root in roots("specs") if (root / name).is_dir()), None)
    if folder is None:
        sort = name.split("/")[0]
        known = [f.relative_to(root).as_posix() for root in roots("specs") for f in root.glob(f"{sort}/*") if f.is_dir()]
        raise wrong(f"no folder '{name}' under specs/", did_you_mean(name, known))
    try:
        texts = texts_in(folder.resolve())
    except ValueError as bad:
        raise wrong(f"{name} cannot be taken: {bad}") from None
    if not texts:
        raise wrong(f"the folder {name} is empty")
    return FolderSource(name=name, digest=Harness(texts).id, texts=texts)


def forget() -> None:
    """Files are read anew: called when a spec is loaded, so that a notebook sees what was edited since."""
    for reader in _readers:
        reader.cache_clear()


def _read(name: str, pattern: str) -> tuple[Path, bytes]:
    path = find_file("specs", name)
    if path is None:
        known = [f.relative_to(root).as_posix() for root in roots("specs") for f in root.glob(pattern)]
        raise wrong(f"no file '{name}' under specs/", did_you_mean(name, known))
    return path.resolve(), path.read_bytes()


def _reader(read: Any) -> Any:
    def from_name(value: Any) -> Any:
        if isinstance(value, str):
            return read(value)
        if isinstance(value, NamedFile):
            return value
        raise wrong(f"expected a file name, got {value!r}")

    return BeforeValidator(from_name)


_NAME = WithJsonSchema({"type": "string"})
FolderName = Annotated[FolderSource, _reader(read_folder), _NAME]
PromptName = Annotated[NamedFile, _reader(read_prompt), _NAME]
HarnessName = Annotated[HarnessSource, _reader(read_harness), _NAME]
RecordedName = Annotated[RecordedFile, _reader(read_recorded), _NAME]
