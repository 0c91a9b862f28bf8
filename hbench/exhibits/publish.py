"""A bundle: what others need to read an experiment's rows and to use what it trained, without running it again."""

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hbench.core.digest import Json
from hbench.core.failure import HbenchError
from hbench.core.folder_digest import file_digest
from hbench.core.published import ADAPTERS, BUNDLE, NAME, PREFIX, ROWS, SPECS, without_places
from hbench.exhibits.arm_checkpoints import ArmCheckpoints, arm_checkpoints
from hbench.exhibits.bundled import bundle_folder
from hbench.exhibits.sources import Source, count_newest_runs, load_sources, plain_name
from hbench.store.bundle_rows import EVENT_TEXTS, STEP_TABLES, choose, write_rows
from hbench.store.checkpoint import card, put_checkpoint
from hbench.store.tables import SCHEMA

MB = 1_000_000
LEAVABLE = (*STEP_TABLES, EVENT_TEXTS, ADAPTERS)  # what --without may name
SHOWN = 5  # files named in a refusal
# Families and domains whose questions are made by code. All others hold somebody's text, and its licence is not ours to judge.
GENERATED = frozenset({"reasoning_gym", "invented_hops", "practice", "toy", "files"})
REPHRASED = frozenset({"output_grammar"})  # those of the family inside, asked in other words
AUTHORED = frozenset({"spreadsheet", "uspto"})  # the same where their `source` is authored
SEALED = frozenset({"appworld"})  # may be passed on in encrypted form alone, and so not in rows, whoever says so
# But these of Reasoning Gym draw from puzzles, programs, objects and word lists that others gathered. Words of the
# library's one book, in the public domain, are free.
DRAWN = frozenset(
    {"arc_agi", "acre", "bf", "codeio", "figlet_font", "group_anagrams", "rush_hour", "spell_backward", "word_ladder"}
)
GOLD = (
    "Holds the right answers of its questions (column answer of questions, and values of split steps). Keep it away from "
    "whatever is trained or adapted to be measured on them."
)


@dataclass(frozen=True)
class Terms:
    """What a bundle may hold. without: names of LEAVABLE, or adapters/NAME for one. max_mb: more is refused.

    with_questions: also those of data sets, for all families that do not make their own.
    """

    without: frozenset[str] = frozenset()
    max_mb: float = 60.0
    with_questions: bool = False


@dataclass(frozen=True)
class Published:
    """folder: of the bundle. files: name -> bytes, all but bundle.json. arms: arm -> the adapter it uses."""

    folder: Path
    files: Mapping[str, int]
    arms: Mapping[str, str] = field(default_factory=dict)

    @property
    def mb(self) -> float:
        return sum(self.files.values()) / MB


def publish(results: Path, specs: Sequence[str], name: str, terms: Terms = Terms()) -> Published:
    """Writes results/published/<name>, in place of a bundle of that name: rows, adapters, resolved specs, bundle.json.

    Only rows reached through the labels of each spec's newest finished run are in it. Equal results give equal bytes.
    Raises HbenchError when a spec was not run to its end, questions may not be published, or it is too big.
    """
    if any(spec.startswith(PREFIX) for spec in specs):
        raise HbenchError(f"{specs[0]} is a bundle already; `--duckdb FILE` makes one DuckDB file of it")
    _check_terms(name, terms)
    target = _target(results, name)
    part = target.with_name(f".{name}.part")
    with _made(results, specs, (name, terms), part) as made:
        _put_in_place(part, target)
    return replace(made, folder=target)


def publish_file(results: Path, specs: Sequence[str], file: Path, name: str | None = None, terms: Terms = Terms()) -> None:
    """The same as one DuckDB file, without adapters. specs: also `published/NAME` alone, a bundle that is there."""
    from hbench.store.bundle_file import check_target, write_file

    check_target(file)
    if any(spec.startswith(PREFIX) for spec in specs):
        write_file(_one_bundle(specs, results), file)
        return
    name = name or file.stem
    terms = replace(terms, without=terms.without | {ADAPTERS})
    _check_terms(name, terms)
    part = file.with_name(f".{file.name}.bundle")
    with _made(results, specs, (name, terms), part):
        write_file(part, file)


def _one_bundle(specs: Sequence[str], results: Path) -> Path:
    if len(specs) > 1:
        raise HbenchError(f"{', '.join(specs)}: rows come from one bundle, or from specs that were run, not from both")
    return bundle_folder(specs[0], results)


@contextmanager
def _made(results: Path, specs: Sequence[str], asked: tuple[str, Terms], part: Path) -> Iterator[Published]:
    """A whole bundle in the folder `part`, for as long as it lasts."""
    name, terms = asked
    shutil.rmtree(part, ignore_errors=True)  # left by one that was killed
    with closing(_opened(results)) as connection:
        sources = load_sources(connection, specs)
        runs = _runs(connection, sources)
        choose(connection, [run["run_id"] for run in runs])
        _check_questions(connection, terms)
        try:
            part.mkdir(parents=True)
            write_rows(connection, part / ROWS, terms.without)
            _write_specs(connection, part / SPECS)
            arms = _write_adapters(connection, results, (sources, terms), part)
            files = _files(part)
            _check_size(files, terms)
            manifest = _manifest(name, (sources, runs), arms, part) | {"without": sorted(terms.without)}
            (part / BUNDLE).write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            yield Published(part, files, arms.of_arm)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _check_terms(name: str, terms: Terms) -> None:
    if not re.fullmatch(NAME, name):
        raise HbenchError(f"{name!r} is no name for a bundle: letters, digits, _, - and . only (give one with --name)")
    if odd := sorted(n for n in terms.without - set(LEAVABLE) if not n.startswith(f"{ADAPTERS}/")):
        raise HbenchError(f"--without {odd[0]}: there is no such thing to leave out; there are {', '.join(LEAVABLE)}")


def _target(results: Path, name: str) -> Path:
    target = results / "published" / name
    if target.exists() and not (target / BUNDLE).is_file() and any(target.iterdir()):
        raise HbenchError(f"{target} is there and is no bundle: remove it, or give another --name")
    return target


def _opened(results: Path) -> Any:
    """A connection to a database that is up to date."""
    from hbench.store.database import fold
    from hbench.store.query import open_read_only

    folded = fold(results, wait_s=30.0)
    if folded.how not in ("folded", "nothing"):
        why = "; ".join(folded.messages) or folded.how
        raise HbenchError(f"the database is not up to date ({why}); close what has it open, or try again")
    connection = open_read_only(results, 10.0)
    count_newest_runs(connection)
    return connection


def _runs(connection: Any, sources: Sequence[Source]) -> list[Json]:
    """The newest finished run of every spec, in the order of their digests."""
    counted = connection.execute(
        "select c.spec_digest, c.run_id, strftime(c.ended_at, '%Y-%m-%d'), c.versions::varchar, r.git_commit "
        "from counted_runs as c join runs as r using (run_id) order by c.spec_digest"
    ).fetchall()
    found = {row[0]: dict(zip(("spec", "run_id", "ended", "versions", "commit"), row, strict=True)) for row in counted}
    for source in sources:
        if absent := [point for point in source.points if point not in found]:
            told = f"{len(absent)} of {len(source.points)} specs of {source.name} have no finished run"
            raise HbenchError(f"{told}: `hbench run {source.name}`")
    names = [plain_name(source.name) for source in sources]
    if twice := [name for name in names if names.count(name) > 1]:
        raise HbenchError(f"two specs would be called {twice[0]}: a bundle keeps no folders; publish them apart")
    wanted = {point for source in sources for point in source.points}
    return [run for digest, run in sorted(found.items()) if digest in wanted]


def _check_questions(connection: Any, terms: Terms) -> None:
    """Questions of data sets are published on the user's own word alone, those of SEALED never."""
    rows = connection.execute(
        "select distinct coalesce(params -> '$.family', params -> '$.domain')::varchar "
        "from steps where kind = 'split' and step_key in (select step_key from published_steps)"
    ).fetchall()
    families = [json.loads(family or "{}") for (family,) in rows]
    if sealed := sorted({f"{f.get('name', '?')} ({f['kind']})" for f in families if f.get("kind") in SEALED}):
        raise HbenchError(
            f"questions of {', '.join(sealed)} would be published, with what their engine says of itself; its terms allow "
            "that in encrypted form alone: publish the other specs"
        )
    held = sorted({f"{f.get('name', '?')} ({f.get('kind', '?')})" for f in families if not makes_its_own(f)})
    if held and not terms.with_questions:
        raise HbenchError(
            f"questions of {', '.join(held[:SHOWN])} would be published, with passages and answers; families and domains that "
            f"make their own (most of {', '.join(sorted(GENERATED))}) may be, a data set only where its licence allows it and "
            "you say so with --with-questions"
        )


def makes_its_own(family: Json) -> bool:
    """Whether the questions of a family's or domain's block are made by code, and from no data of others."""
    if family.get("kind") in REPHRASED:
        return makes_its_own(family["family"])
    if family.get("kind") in AUTHORED:
        return family.get("source") == "authored"
    if family.get("kind") != "reasoning_gym":
        return family.get("kind") in GENERATED
    mixed = family.get("settings", {}).get("datasets", ())  # of `composite`
    return "reasoning_gym" in GENERATED and not DRAWN & {family["name"], *(part["name"] for part in mixed)}


def _write_specs(connection: Any, folder: Path) -> None:
    """Each spec as it was resolved, under its name and the beginning of its digest."""
    folder.mkdir()
    rows = connection.execute(
        "select text_without_places(name), spec_digest, yaml_without_places(text) from specs "
        "where spec_digest in (select spec_digest from published_runs) order by all"
    ).fetchall()
    for name, digest, text in rows:
        file = folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', name or 'spec').strip('-.')}-{digest[:8]}.yaml"
        file.write_text(f"# {name}\n# spec {digest}\n{text}", encoding="utf-8")


def _write_adapters(connection: Any, results: Path, asked: tuple[Sequence[Source], Terms], part: Path) -> ArmCheckpoints:
    sources, terms = asked
    if ADAPTERS in terms.without:
        return ArmCheckpoints()
    arms = arm_checkpoints(connection, results, [arm for source in sources for arm in source.arms])
    left = {name.removeprefix(f"{ADAPTERS}/") for name in terms.without if name.startswith(f"{ADAPTERS}/")}
    if odd := sorted(left - set(arms.steps)):
        raise HbenchError(f"--without {ADAPTERS}/{odd[0]}: there is none; there are {', '.join(arms.steps) or 'none'}")
    arms = arms.without(left)
    for name, step in arms.steps.items():
        (part / ADAPTERS).mkdir(exist_ok=True)
        put_checkpoint(without_places(card(step, connection)), step.files, part / ADAPTERS / name)
    return arms


def _files(folder: Path) -> dict[str, int]:
    """Name -> bytes of every file in `folder`, sorted by name."""
    return {p.relative_to(folder).as_posix(): p.stat().st_size for p in sorted(folder.rglob("*")) if p.is_file()}


def _check_size(files: Mapping[str, int], terms: Terms) -> None:
    whole = sum(files.values()) / MB
    if whole <= terms.max_mb:
        return
    largest = sorted(files.items(), key=lambda item: -item[1])[:SHOWN]
    listed = "\n".join(f"  {size / MB:8.1f} MB  {name}" for name, size in largest)
    raise HbenchError(
        f"the bundle would take {whole:.1f} MB, more than --max-mb {terms.max_mb:g}; largest:\n{listed}\n"
        f"--without leaves out a table, {EVENT_TEXTS} (what harnesses asked and were answered), or {ADAPTERS}/NAME"
    )


def _manifest(name: str, counted: tuple[Sequence[Source], Sequence[Json]], arms: ArmCheckpoints, part: Path) -> Json:
    """What bundle.json says. Its date is the newest run's: writing it again changes nothing."""
    sources, runs = counted
    versions: dict[str, set[str]] = {}
    for run in runs:
        for library, version in json.loads(run["versions"] or "{}").items():
            versions.setdefault(library, set()).add(str(version))
    return {
        "name": name,
        "date": max(run["ended"] for run in runs),
        "note": GOLD,
        "schema": SCHEMA,
        "specs": {plain_name(s.name): {"points": without_places(dict(s.points)), "arms": list(s.arms)} for s in sources},
        "arms": dict(arms.of_arm),
        "adapters": {name: {**without_places(step.checkpoint), "step": step.key} for name, step in arms.steps.items()},
        "runs": [run["run_id"] for run in runs],
        "commits": sorted({run["commit"] for run in runs if run["commit"]}),
        "versions": {library: sorted(found) for library, found in sorted(versions.items())},
        "files": {n: {"sha256": file_digest(part / n), "bytes": size} for n, size in _files(part).items()},
    }


def _put_in_place(part: Path, target: Path) -> None:
    """A reader finds the old bundle or the new one."""
    aside = target.with_name(f".{target.name}.old")
    shutil.rmtree(aside, ignore_errors=True)
    if target.exists():
        os.rename(target, aside)
    os.rename(part, target)
    shutil.rmtree(aside, ignore_errors=True)
