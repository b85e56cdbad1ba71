"""The real data sets of the scripts, as sorted CSR of unit-length rows.

They are read from ``../shared/data`` beside the project, or from the directory in ``ONLINECLS_DATA``, and never copied into it.
Text becomes a bag of lower-cased word unigrams hashed to ``n_features`` columns without signs; svmlight files keep their ids.
The scripts import this module first: it gives BLAS one thread, and puts the suite of asv on the path.
"""

import gzip
import itertools
import math
import os
import re
import sys
import tempfile
import time
from pathlib import Path

os.environ.update({"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"})  # before numpy reads them
sys.path.insert(1, str(Path(__file__).resolve().parents[2]))  # (for benchmarks.common and benchmarks.calls)

import numpy as np
import scipy.sparse as sp

# Every binary file of the collection but the test halves: ten sets, a rule that was fixed before any of them had been run.
BINARY = ("sms-spam", "imdb-train", "spamassassin", "amazon-books", "amazon-dvd", "a9a", "ecml-spam-a-u00",
          "ecml-spam-a-u00-tune", "rcv1-subset1", "rcv1-vw-small")
BINARY_TEST = ("imdb-test", "a9a-test", "rcv1-vw-small-test")  # for a second look
MULTICLASS = ("20news-train", "reuters21578-single-train", "debian-sections", "enron-folders-beck-s", "enron-folders-farmer-d",
              "enron-folders-kaminski-v", "enron-folders-lokay-m", "enron-folders-williams-w3")
HALVES = {  # those that come in a training and a test half
    "imdb": ("imdb-train", "imdb-test"),
    "a9a": ("a9a", "a9a-test"),
    "rcv1-vw-small": ("rcv1-vw-small", "rcv1-vw-small-test"),
    "20news": ("20news-train", "20news-test"),
    "reuters": ("reuters21578-single-train", "reuters21578-single-test"),
}
# Sentences of mails and posts, and of what was published.
MAIL = ("20news-train", "20news-test", *MULTICLASS[3:], "sms-spam", "spamassassin")
PRINT = ("imdb-train", "imdb-test", "amazon-domains", "debian-sections", "reuters21578-single-train", "reuters21578-single-test")

N_FEATURES = 2**20
TOKEN = r"(?u)\b\w+\b"
SIGNS = {"ham": -1, "spam": 1, "neg": -1, "pos": 1}
RECIPE = 1  # part of the cache's file names: raise it when the features below change


def seconds(run, clock=time.thread_time):
    """Measure a call, by this thread's processor time unless told otherwise: the machine may have other things to do."""
    start = clock()
    run()
    return clock() - start


def geometric(errors, least=1e-3):
    """Return geometric means over the first axis; an error of 0 counts as one row in 100,000 (in per cent)."""
    return np.exp(np.log(np.maximum(errors, least)).mean(axis=0))


def data_dir():
    """Return the directory of the data sets, even if it does not exist."""
    return Path(os.environ.get("ONLINECLS_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))


def cache_dir():
    path = Path(tempfile.gettempdir()) / "onlinecls-benchmarks"
    path.mkdir(exist_ok=True)
    return path


def path_of(name):
    """Return the file of a data set."""
    for suffix in (".tsv.gz", ".svm.gz"):
        path = data_dir() / (name + suffix)
        if path.exists():
            return path
    raise FileNotFoundError(f"no data set {name!r} in {data_dir()}: set ONLINECLS_DATA to the folder that holds {name}.tsv.gz "
                            "or .svm.gz")


def available(names):
    """Return those of these sets that are there, and say on standard error which are not."""
    found = [name for name in names if any((data_dir() / (name + suffix)).exists() for suffix in (".tsv.gz", ".svm.gz"))]
    if len(found) < len(names):
        print(f"skipped, not in {data_dir()}: {', '.join(set(names) - set(found))}", file=sys.stderr)
    return found


def load(name, n_features=N_FEATURES, normalize=True):
    """Return ``X`` (CSR, int32 indices, sorted, rows of unit length unless told otherwise) and ``y`` (-1/+1, or strings)."""
    path = path_of(name)
    X, y = _cached(f"{name}-{n_features}", lambda: _read(path, n_features))
    return _finish(X, normalize), y


def texts(name):
    """Return the labels and the texts of a file of texts."""
    with gzip.open(path_of(name), "rt", encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\n").split("\t", 1) for line in lines]
    return [row[0] for row in rows], [row[1] for row in rows]


def digits(part="train"):
    """Return MNIST's images as rows of pixels from 0 to 1, and their labels."""
    with np.load(data_dir() / "mnist.npz") as kept:
        X, y = kept[f"X_{part}"], kept[f"y_{part}"]
    return X.reshape(len(X), -1) / 255, y.astype(np.int64)


def dense_digits(n=20_000):
    """Return ``n`` of MNIST's images in float32, and whether each is of a digit from 5 on."""
    X, y = digits()
    return X[:n].astype(np.float32), np.where(y[:n] >= 5, 1, -1)


def short_texts(words=22, sources=("imdb-train", "imdb-test"), n_features=N_FEATURES):
    """Return rows of ``words`` consecutive words of real documents, each with its document's label.

    All first pieces come before all second pieces and so on, so neighbours in the stream never share a document.
    """
    X, y = _cached(f"short-{'+'.join(sources)}-{words}-{n_features}", lambda: _read_pieces(sources, words, n_features))
    return _finish(X, True), y


def sentences(n=400_000):
    """Return words and pairs of words of ``n`` sentences, and whether each is of a mail or post (+1) or was published (-1).

    Sentences are of their own lengths and in random order.
    """

    def make():
        rows = [(sign, text) for sign, names in ((1, MAIL), (-1, PRINT)) for name in names for text in _sentences_of(name)]
        np.random.default_rng(0).shuffle(rows)
        signs, found = zip(*rows[:n], strict=True)
        return _hash_here(found, ngram_range=(1, 2)), np.array(signs)

    X, y = _cached(f"sentences-{n}", make)
    return _finish(X, False), y


def reviews(n=4000):
    """Return the strings of 3 to 5 characters of ``n`` whole IMDb reviews, rows of a thousand non-zeros and more."""

    def make():
        labels, found = texts("imdb-train")
        return _hash_here(found[:n], analyzer="char_wb", ngram_range=(3, 5)), _encode(labels[:n])

    X, y = _cached(f"reviews-{n}", make)
    return _finish(X, False), y


def stories():
    """Return what there is of RCV1 with all its terms, in columns as many as it has."""
    parts = [load(name, n_features=47_237) for name in HALVES["rcv1-vw-small"]]
    return _finish(sp.vstack([X for X, _ in parts], format="csr"), True), np.concatenate([y for _, y in parts])


def vw_labels(y):
    """Return the labels as VW wants them: -1/+1, or 1..k."""
    classes, codes = np.unique(y, return_inverse=True)
    return codes + 1 if len(classes) > 2 else 2 * codes - 1


def vw_bits(n_classes, n_features=N_FEATURES):
    """Return VW's ``-b`` for one weight per feature and class: the classes of ``--oaa`` share its table."""
    return math.ceil(math.log2(n_features)) + (math.ceil(math.log2(n_classes)) if n_classes > 2 else 0)


def vw_file(key, X, y):
    """Write the rows in VW's text format, once. VW does not hash integer names, so the features are the same."""
    path = cache_dir() / f"{key}-v{RECIPE}.vw"
    if path.exists():
        return path
    part = path.with_suffix(".part")
    with open(part, "w") as out:
        for label, start, stop in zip(vw_labels(y), X.indptr[:-1], X.indptr[1:], strict=True):
            pairs = zip(X.indices[start:stop].tolist(), X.data[start:stop].tolist(), strict=True)
            out.write(f"{label} | {' '.join(f'{column}:{value:.9g}' for column, value in pairs)}\n")
    part.replace(path)
    return path


def _read(path, n_features):
    if path.name.endswith(".svm.gz"):
        from sklearn.datasets import load_svmlight_file

        # zero_based: the ids stay those of the file, for every learner alike.
        X, y = load_svmlight_file(str(path), n_features=n_features, zero_based=True)
        return X, y.astype(np.int64)
    labels, found = texts(path.name.removesuffix(".tsv.gz"))
    return _hash(found, n_features), _encode(labels)


def _read_pieces(names, words, n_features):
    pieces = []
    for label, text in itertools.chain.from_iterable(zip(*texts(name), strict=True) for name in names):
        tokens = re.findall(TOKEN, text.lower())
        whole = range(0, len(tokens) - words + 1, words)  # the rest of a document is dropped: rows stay alike
        pieces.append([(label, " ".join(tokens[i : i + words])) for i in whole])
    rounds = itertools.chain.from_iterable(itertools.zip_longest(*pieces))
    labels, found = zip(*filter(None, rounds), strict=True)
    return _hash(found, n_features), _encode(labels)


def _sentences_of(name):
    return [part for text in texts(name)[1] for part in re.split(r"(?<=[.!?]) +", text) if re.search(r"\w\w", part)]


def _hash(found, n_features):
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(n_features=n_features, token_pattern=TOKEN, alternate_sign=False, norm=None).transform(found)


def _hash_here(found, **params):
    from onlinecls.text import HashingVectorizer

    return HashingVectorizer(n_features=N_FEATURES, dtype=np.float32, **params).transform(found)


def _encode(labels):
    return np.array([SIGNS[label] for label in labels] if set(labels) <= set(SIGNS) else labels)


def _finish(X, normalize):
    X.sum_duplicates()  # sorts as well
    if normalize:
        norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
        X.data /= np.repeat(np.where(norms > 0, norms, 1), np.diff(X.indptr))
    X = X.astype(np.float32, copy=False)
    X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return X


def _cached(key, make):
    """Return ``make()``, a pair of CSR and labels, cached as .npz: hashing takes a hundred times longer than reading it back."""
    path = cache_dir() / f"{key}-v{RECIPE}.npz"
    if not path.exists():
        X, y = make()
        # float32 holds counts exactly; real values keep all their digits.
        data = X.data.astype(np.float32) if np.array_equal(X.data, X.data.astype(np.float32)) else X.data
        part = path.with_name(f"{path.name}.{os.getpid()}.npz")
        np.savez(part, data=data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
        os.replace(part, path)  # a run that is killed leaves no half a file behind
    with np.load(path) as kept:
        X = sp.csr_matrix((kept["data"].astype(np.float64), kept["indices"], kept["indptr"]), shape=tuple(kept["shape"]))
        return X, kept["y"]
