"""BM25 over a corpus of any size: an index on the disk, searches that arrive together made together."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from hbench.core.corpus import Corpus, CorpusSource, Passage
from hbench.core.failure import StepError
from hbench.engines.bm25_folder import index_folder
from hbench.engines.bm25_index import Index
from hbench.engines.bm25_loops import fastest_loops
from hbench.engines.bm25_words import QueryWords

TOGETHER = 64  # searches made in one go, at most


def open_corpus(source: CorpusSource, say: Callable[[str], None]) -> Corpus:
    """The corpus of `source`, ready for searching; its index is built now when no process has built it before.

    say: gets a line now and then while an index is built or waited for. A `count` of the source (documents, or None)
    lets it tell the time left. Raises HbenchError when the extra is not installed or the corpus is empty or has an id
    twice, StepError when the disk fails.
    """
    folder = index_folder(source, say)
    return Bm25Corpus(Index(folder, fastest_loops()), source.name)


class Bm25Corpus:
    """A Corpus. One thread searches; what arrives while it is at work waits and is then handed over together."""

    def __init__(self, index: Index, name: str):
        self.index, self.name = index, name
        self._words = QueryWords(index.terms)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="bm25")
        self._waiting: list[tuple[str, int, asyncio.Future]] = []
        self._at_work: asyncio.Task | None = None
        self._closed = False
        self._thread.submit(self._warm_up)

    async def search(self, query: str, top_k: int) -> Sequence[Passage]:
        """The best passages, best first, at most top_k; ties by document id; none that holds no word of the query."""
        if self._closed:
            raise StepError(f"the corpus {self.name} is closed")
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append((query, top_k, answer))
        if self._at_work is None:
            self._at_work = asyncio.create_task(self._work())
            self._at_work.add_done_callback(self._given_up)
        return await answer

    async def close(self) -> None:
        """Waits for the searches under way, then lets go of the index."""
        self._closed = True
        if self._at_work:
            await asyncio.wait([self._at_work])
        await asyncio.get_running_loop().run_in_executor(self._thread, self.index.close)
        self._thread.shutdown()

    async def _work(self) -> None:
        await asyncio.sleep(0)  # those who ask in this turn of the loop come along
        while self._waiting:
            batch = self._waiting[:TOGETHER]
            asked = [(query, top_k) for query, top_k, answer in batch if not answer.done()]
            found = await asyncio.get_running_loop().run_in_executor(self._thread, self._all, asked)
            for query, top_k, answer in batch:
                if not answer.done():
                    _settle(answer, found[query, top_k])
            del self._waiting[: len(batch)]
        self._at_work = None

    def _given_up(self, task: asyncio.Task) -> None:
        """A run that stops cancels every task; whoever waits here is not left hanging."""
        if task.cancelled():
            for _, _, answer in self._waiting:
                answer.cancel()
            self._waiting, self._at_work = [], None

    def _all(self, asked: list[tuple[str, int]]) -> dict[tuple[str, int], "list[Passage] | StepError"]:
        return {each: self._one(*each) for each in dict.fromkeys(asked)}

    def _one(self, query: str, top_k: int) -> "list[Passage] | StepError":
        try:
            best = self.index.best(self._words.numbers(query), top_k)
            return [Passage(self.index.document(number), score) for number, score in best]
        except Exception as trouble:  # everyone who waits gets it, and the step that asked ends
            return StepError(f"the index of corpus {self.name} cannot be searched: {trouble!r}")

    def _warm_up(self) -> None:
        """Compiles the loops while the first model call is under way."""
        if self.index.terms:
            self.index.best([0], 1)


def _settle(answer: asyncio.Future, found: "list[Passage] | StepError") -> None:
    if isinstance(found, StepError):
        answer.set_exception(found)
    else:
        answer.set_result(found)
