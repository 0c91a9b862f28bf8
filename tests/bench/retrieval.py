"""Search over a large corpus: what its index costs to build, and what a query costs beside bm25s called directly.

`python tests/bench/retrieval.py` generates 1,000,000 paragraphs of 40 to 100 words over a Zipf vocabulary of 250,000
words, builds their index in a process of its own, asks it queries of 8 to 20 words, and prints one line a figure.
`--count` makes it smaller, `--folder` keeps the index there for another look (about 1 GB).
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from hbench.engines import bm25, bm25_folder, bm25_loops  # noqa: E402
from tests.bench.measure import measure  # noqa: E402
from tests.bench.paragraphs import Paragraphs  # noqa: E402

TOP_K = 10
IN_FLIGHT = 64
SETS = {"words by the law of the text": Paragraphs.queries, "a paragraph's rarer words": Paragraphs.questions}


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("--count", type=int, default=1_000_000)
    words.add_argument("--vocabulary", type=int, default=250_000)
    words.add_argument("--queries", type=int, default=640)
    words.add_argument("--folder", type=Path)
    words.add_argument("--only", choices=["generate", "build", "search", "numpy"], help="one part, in this process")
    chosen = words.parse_args()
    source = Paragraphs(chosen.count, chosen.vocabulary)
    if chosen.only:
        return {"generate": generate, "build": build, "search": search, "numpy": search}[chosen.only](source, chosen)
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["HBENCH_CACHE"] = str(chosen.folder or temporary)
        again = [sys.executable, __file__, f"--count={chosen.count}", f"--vocabulary={chosen.vocabulary}"]
        generated = measure([*again, "--only=generate"])
        print(f"generating {chosen.count:,} paragraphs, nothing else: {generated.wall_s:.0f} s", flush=True)
        built = measure([*again, "--only=build"])
        print(f"build, generating included: {built.wall_s:.0f} s ({built.cpu_s:.0f} CPU-s)")
        print(f"peak memory of the build: {built.peak_mb:.0f} MB of the 6,000 allowed")
        megabytes = {f.name: f.stat().st_size / 1e6 for f in bm25_folder.index_folder(source, print).iterdir()}
        print(f"disk: {sum(megabytes.values()):.0f} MB, of which texts {megabytes['texts.jsonl']:.0f} MB", flush=True)
        for part in ("search", "numpy"):
            subprocess.run([*again, f"--queries={chosen.queries}", f"--only={part}"], check=True)


def generate(source, chosen) -> None:
    for _ in source.documents():
        pass


def build(source, chosen) -> None:
    bm25_folder.index_folder(source, lambda line: print(line, flush=True))


def search(source, chosen) -> None:
    """With numba, or (--only numpy) as on a machine without it and on a tenth of the queries."""
    if chosen.only == "numpy":
        bm25_loops.find_spec = lambda name: None
        chosen.queries //= 10
    started = time.perf_counter()
    corpus = bm25.open_corpus(source, print)
    asyncio.run(_first(corpus, source.queries(1, seed=9)[0]))
    ready_s = time.perf_counter() - started
    print(f"{chosen.only}: opened, loops compiled or loaded, first query answered: {ready_s:.1f} s")
    theirs = Plain(bm25_folder.index_folder(source, print), "numpy" if chosen.only == "numpy" else "numba")
    for name, made in SETS.items():
        queries = made(source, chosen.queries)
        alone = asyncio.run(_asked(corpus, queries, 1))
        together = asyncio.run(_asked(corpus, queries, IN_FLIGHT))
        plain = theirs.timed(corpus, queries)
        told = f"{chosen.only}, {name}"
        print(f"{told}, one at a time: {alone.told}")
        print(f"{told}, {IN_FLIGHT} in flight: {together.each_ms:.3f} ms a query; until answered {together.told}")
        print(f"bm25s called directly, {name}, one at a time: {plain.told}; all at once {plain.each_ms:.3f} ms a query")
        ratios = [np.percentile(alone.latencies, p) / np.percentile(plain.latencies, p) for p in (50, 95)]
        ratios += [together.each_ms / plain.each_ms, alone.cpu_ms / plain.cpu_ms]
        print("ratio to bm25s, {}: p50 {:.2f}, p95 {:.2f}, together {:.2f}, CPU {:.2f}".format(name, *ratios))
        wrong = theirs.differing(corpus, queries[:100])
        print(f"{chosen.only}, {name}: {wrong} of {len(queries[:100])} answers differ from bm25s's scores", flush=True)
    print(f"{chosen.only}: memory of the process that searched: {_own_mb():.0f} MB beside the index")


class Timed:
    """latencies: ms a query, (N,). each_ms, cpu_ms: the whole time, the process's CPU time, over N."""

    def __init__(self, latencies, wall_s, cpu_s):
        self.latencies, count = np.array(latencies) * 1000, len(latencies)
        self.each_ms, self.cpu_ms = wall_s * 1000 / count, cpu_s * 1000 / count

    @property
    def told(self) -> str:
        p50, p95 = np.percentile(self.latencies, [50, 95])
        return f"p50 {p50:.2f} ms, p95 {p95:.2f} ms, {self.cpu_ms:.2f} CPU-ms a query"


class Plain:
    """bm25s itself, on the same index."""

    def __init__(self, folder, backend):
        import bm25s

        self.engine = bm25s.BM25.load(folder, mmap=True, backend=backend)

    def retrieve(self, tokens):
        return self.engine.retrieve(tokens, k=TOP_K, show_progress=False)

    def timed(self, corpus, queries) -> Timed:
        """Its retrieve() alone: the queries are cut into terms beforehand, and no text is read."""
        tokens = [corpus._words.numbers(query) for query in queries]
        self.retrieve(tokens[:1])
        latencies, cpu = [], time.process_time()
        for one in tokens:
            started = time.perf_counter()
            self.retrieve([one])
            latencies.append(time.perf_counter() - started)
        cpu = time.process_time() - cpu
        started = time.perf_counter()
        self.retrieve(tokens)
        return Timed(latencies, time.perf_counter() - started, cpu)

    def differing(self, corpus, queries) -> int:
        """Queries whose best scores are not theirs, digit by digit."""
        tokens = [corpus._words.numbers(query) for query in queries]
        ours = [[score for _, score in corpus.index.best(one, TOP_K)] for one in tokens]
        theirs = [[s for s in scores.tolist() if s > 0] for scores in self.retrieve(tokens)[1]]
        return sum(a != b for a, b in zip(ours, theirs, strict=True))


async def _first(corpus, query) -> None:
    await corpus.search(query, TOP_K)


async def _asked(corpus, queries, in_flight) -> Timed:
    rest, latencies = iter(queries), []

    async def work():
        for query in rest:
            started = time.perf_counter()
            await corpus.search(query, TOP_K)
            latencies.append(time.perf_counter() - started)

    started, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(in_flight)))
    return Timed(latencies, time.perf_counter() - started, time.process_time() - cpu)


def _own_mb() -> float:
    """What is not a mapped file."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:")) / 1024


if __name__ == "__main__":
    main()
