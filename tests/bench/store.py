"""What a large results folder costs: folding it, one more step, an exhibit over it.

`python tests/bench/store.py` makes a million rollouts with three calls each, over 20,000 steps, and prints one line a figure.
`--share 0.1` makes a tenth of it; `--folder DIR` keeps the folder, and takes what is there.
"""

import argparse
import sys
import tempfile
import time
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from tests.bench.big_folder import Size, plans, write_results, write_spec, write_step  # noqa: E402

WHOLE = Size(points=109, questions=101)  # 19,948 steps, 1,001,819 rollouts


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--share", type=float, default=1.0)
    words.add_argument("--folder", type=Path)
    chosen = words.parse_args()
    size = replace(WHOLE, points=max(1, round(WHOLE.points * chosen.share)))
    with tempfile.TemporaryDirectory() as name:
        folder = chosen.folder or Path(name)
        write_spec(folder, size)
        made = plans(folder)
        rollouts, seconds, _ = timed(lambda: write_results(folder, made, size.questions))
        print(f"made {rollouts:,} rollouts in {len(all_steps(made)):,} steps in {seconds:.0f} s", flush=True)
        with chdir(folder):
            folding(made[0], size.questions)
            exhibit()


def folding(plan, questions: int) -> None:
    from hbench.core.digest import digest
    from hbench.store.database import fold

    results = Path("results")
    for old in results.glob("*.duckdb*"):
        old.unlink()
    told(timed(lambda: fold(results)), "first fold", 60)
    evaluate = next(step for step in plan.steps if step.kind == "evaluate")
    key = digest(["one more", time.time()])
    write_step(results / "steps" / key[:2] / key, evaluate, questions)
    told(timed(lambda: fold(results)), "one more step", 0.5)
    told(timed(lambda: fold(results)), "nothing new", 0.5)


def exhibit() -> None:
    from hbench.exhibits.exhibit import read, regenerate, regenerate_from
    from hbench.exhibits.opened import Opened

    with Opened(Path("results")) as opened:
        place = opened.place(["big"], None)
        told(timed(lambda: regenerate_from(place.connection, ("proposal_quality", *read("proposal_quality")), place.sources)), "proposal_quality", 1)
    told(timed(lambda: regenerate("proposal_quality", Path("results"), ["big"])), "the same with its specs read and rows folded", None)


def all_steps(made) -> set[str]:
    return {step.id for plan in made for step in plan.steps}


def timed(work):
    """(what `work` gives, wall seconds, CPU seconds)"""
    wall, cpu = time.perf_counter(), time.process_time()
    return work(), time.perf_counter() - wall, time.process_time() - cpu


def told(found, what: str, wanted: float | None) -> None:
    made, wall, cpu = found
    if getattr(made, "how", "") in ("failed", "held", "busy"):
        raise SystemExit(f"{what}: {made}")
    print(f"{what}: {wall:.2f} s, {cpu:.2f} CPU-s" + (f" (asked: under {wanted:g} s)" if wanted else ""), flush=True)


if __name__ == "__main__":
    main()
