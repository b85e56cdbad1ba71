"""Hashing of texts, and from a file of them to a model. Words are made up and follow Zipf's law, as ASCII and in Cyrillic."""

import functools
import os
import tempfile

import numpy as np

from .common import STREAM_NNZ, best_seconds, make_estimator

try:
    from onlinecls.text import FeatureNames, HashingVectorizer
except ImportError:  # a version before there was any
    HashingVectorizer = None

CYRILLIC = str.maketrans("abcdefghijklmnopqrstuvwxyz", "абцдефгхижклмнопярстувшыьз")
CASES = {"unigrams": {}, "bigrams": {"ngram_range": (1, 2)}, "characters": {"analyzer": "char_wb", "ngram_range": (3, 5)}}


@functools.cache
def texts(script):
    """Make texts of 100 words."""
    rng = np.random.default_rng(0)
    letters = np.array(list("eetaoinshrdlucmfwypvbgkjqxz"))
    words = ["".join(letters[rng.integers(len(letters), size=size)]) for size in rng.poisson(3.5, 20_000) + 1]
    ranks = np.exp(rng.random((max(STREAM_NNZ // 400, 20), 100)) * np.log(len(words))).astype(np.int64)
    found = [" ".join(words[i] for i in row) for row in ranks]
    return [text.translate(CYRILLIC) for text in found] if script == "Cyrillic" else found


class Hashing:
    params = [list(CASES), ["ASCII", "Cyrillic"]]
    param_names = ["tokens", "script"]

    def setup(self, tokens, script):
        if HashingVectorizer is None:
            raise NotImplementedError("this version has no HashingVectorizer")
        self.texts = texts(script)
        self.n_bytes = sum(len(text.encode()) for text in self.texts)

    def track_ns_per_byte(self, tokens, script):
        vectorizer = HashingVectorizer(**CASES[tokens])
        return 1e9 * best_seconds(lambda: vectorizer.transform(self.texts)) / self.n_bytes

    def track_ns_per_byte_with_names(self, tokens, script):
        vectorizer = FeatureNames(HashingVectorizer(**CASES[tokens]))
        return 1e9 * best_seconds(lambda: vectorizer.transform(self.texts), repeats=2) / self.n_bytes

    track_ns_per_byte.unit = "ns"
    track_ns_per_byte_with_names.unit = "ns"


class TextToModel:
    """A file of `label<TAB>text` to a model: reading, hashing and learning, as `onlinecls train` does it."""

    params = [["perceptron", "arow"]]
    param_names = ["algorithm"]

    def setup(self, algorithm):
        if HashingVectorizer is None:
            raise NotImplementedError("this version has no HashingVectorizer")
        lines = [f"{'ham' if len(text) % 2 else 'spam'}\t{text}\n" for text in texts("ASCII")]
        file, self.path = tempfile.mkstemp(suffix=".tsv")
        with open(file, "w", encoding="ascii") as data:
            data.writelines(lines)
        self.n_bytes = os.path.getsize(self.path)

    def teardown(self, algorithm):
        os.unlink(self.path)

    def learn(self, algorithm):
        from onlinecls.streams import read

        learner = make_estimator(algorithm)
        with read(self.path, vectorizer=HashingVectorizer()) as batches:
            for X, y, _ in batches:
                learner.partial_fit(X, y)

    def track_mb_per_second(self, algorithm):
        return 1e-6 * self.n_bytes / best_seconds(lambda: self.learn(algorithm))

    track_mb_per_second.unit = "MB/s"
