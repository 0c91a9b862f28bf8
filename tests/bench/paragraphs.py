"""A generated corpus of any size: paragraphs of 40 to 100 words over a Zipf vocabulary, and questions about them."""

from collections.abc import Iterator
from itertools import islice

import numpy as np

from hbench.core.corpus import Document

SYLLABLES = [a + b for a in "bdfghjklmnprstvz" for b in "aeiou"]  # 80; three make 512,000 words
AT_ONCE = 10_000


class Paragraphs:
    """Document n of `count` depends on n and the seed alone.

    Word r is said in proportion to 1/r: the plain law, no stopwords, so the most frequent words stand in nearly every
    paragraph. words: size of the vocabulary.
    """

    def __init__(self, count: int, words: int = 250_000, seed: int = 0):
        self.count, self.words, self.seed = count, words, seed
        self.name, self.digest = "paragraphs", f"paragraphs-{count}-{words}-{seed}".ljust(64, "-")
        self._law = np.cumsum(1 / np.arange(1, words + 1))
        self._law /= self._law[-1]
        spread = np.random.default_rng(seed).permutation(80**3)[:words]
        self.vocabulary = [SYLLABLES[n // 6400] + SYLLABLES[n // 80 % 80] + SYLLABLES[n % 80] for n in spread.tolist()]

    def documents(self) -> Iterator[Document]:
        for start in range(0, self.count, AT_ONCE):
            random = np.random.default_rng([self.seed, 1, start])
            sizes = random.integers(40, 101, min(AT_ONCE, self.count - start))
            words = map(self.vocabulary.__getitem__, self._drawn(random, int(sizes.sum())))
            for number, size in enumerate(sizes.tolist(), start):
                title, *text = (next(words) for _ in range(size))
                yield Document(f"p{number:08}", title, " ".join(text))

    def queries(self, count: int, seed: int = 0) -> list[str]:
        """Of 8 to 20 words by the same law as the paragraphs: frequent words abound in them too."""
        random = np.random.default_rng([self.seed, 2, seed])
        sizes = random.integers(8, 21, count).tolist()
        return [" ".join(self.vocabulary[n] for n in self._drawn(random, size)) for size in sizes]

    def questions(self, count: int, seed: int = 0) -> list[str]:
        """Of 8 to 20 words, each question's from the rarer half of one paragraph's: it has an answer in the corpus."""
        random = np.random.default_rng([self.seed, 3, seed])
        frequency = {word: rank for rank, word in enumerate(self.vocabulary)}
        made = []
        for document in islice(self.documents(), count):
            words = sorted(set(document.text.split()), key=frequency.__getitem__)
            rarer = words[len(words) // 2 :]
            made.append(" ".join(random.permutation(rarer)[: random.integers(8, 21)].tolist()))
        return made

    def _drawn(self, random, count: int) -> list[int]:
        return np.minimum(np.searchsorted(self._law, random.random(count)), self.words - 1).tolist()
