"""Files of lines in every format, damaged: sound rows, then our error, and the same whatever the blocks are."""

import bz2
import gzip
import io
import json
import lzma

import numpy as np

from fuzz.mutation import chance, mutated_bytes, mutated_json, one_of
from onlinecls.streams import read
from onlinecls.tables import TableVectorizer
from onlinecls.text import FeatureNames, HashingVectorizer

TOKENS = [
    b"nan", b"inf", b"-inf", b"1e400", b"-1e400", b"1e-400", b"0x10", b"1_0", b"--1", b"1e", b".", b"+", b"9" * 18, b"9" * 19,
    b"9" * 25, b"1e308", b"3.5e38", b"2147483648:1", b"0:1", b"-1:1", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf",
    b"\r", b"\n\n", b"\t", b"|", b"||", b":", b"|a:1e40", b"'tag|", b'"', b'""', b'"\n', b",", b",,", b"{", b"}", b"[",
    b"null", b"#", b"1:1", b"a" * 300, "é".encode(), "\U0001f600".encode(), b"1:" + b"0" * 400 + b"1",
    b'{"label":1,"text":"a"}\n', b"\\ud800", b"qid:1",
]
KINDS = ("text", "number", "text", "number")
NAMES = {"svmlight": "svm", "vw": "vw", "tsv": "tsv", "csv": "csv", "jsonl": "jsonl"}


def lines_of(draw, format, n):
    """Return a valid file of n lines."""
    word = lambda: one_of(draw, ["a", "bc", "word", "ünï", "x1", "the", "0"])  # noqa: E731
    label = lambda: one_of(draw, ["1", "-1", "0", "2.5"])  # noqa: E731
    words = lambda: " ".join(word() for _ in range(int(draw.integers(0, 6))))  # noqa: E731
    value = lambda: one_of(draw, ["1", "0.5", "-2e3", "1e-5", "3.25"])  # noqa: E731
    lines = []
    for _ in range(n):
        if format == "svmlight":
            at = np.sort(draw.choice(60, int(draw.integers(0, 8)), replace=False))
            lines.append(" ".join([label(), *(f"{i}:{value()}" for i in at)]) + one_of(draw, ["", " # a remark"]))
        elif format == "vw":
            start = one_of(draw, [label(), f"{label()} 0.5", f"{label()} 2 'tag"])
            spaces = " ".join(
                f"|{one_of(draw, ['', 'n', 'm:2'])} "
                + " ".join(f"{word()}{one_of(draw, ['', ':' + value()])}" for _ in range(int(draw.integers(0, 5))))
                for _ in range(int(draw.integers(1, 3))))
            lines.append(f"{start} {spaces}")
        elif format == "tsv":
            lines.append(f"{word()}\t{words()}")
        elif format == "csv":
            quoted = one_of(draw, [words(), f'"{words()}, ""{word()}"""', f'"{word()}\n{word()}"'])
            lines.append(f"{word()},{value()},{quoted},{one_of(draw, ['', value(), 'NA'])}")
        else:
            record = {"label": one_of(draw, [1, -1, "a", 2.5]), "weight": 1.5}
            record.update(
                one_of(draw, [{"text": words()}, {"features": {word(): 1.0, word(): "v"}}, {"x": 1.5, "y": word(), "z": [1, 2]}]))
            lines.append(json.dumps(mutated_json(draw, record) if chance(draw, 0.1) else record))
    head = "label,x,text,y\n" if format == "csv" else ""
    return (head + "".join(line + one_of(draw, ["\n", "\n", "\n", "\r\n"]) for line in lines)).encode("utf-8", "surrogatepass")


def make(draw):
    format = one_of(draw, list(NAMES))
    data = lines_of(draw, format, int(draw.choice([1, 3, 12, 60])))
    if chance(draw, 0.9):
        data = mutated_bytes(draw, data, TOKENS)
    options = {
        "format": format if chance(draw, 0.9) else "auto", "on_error": one_of(draw, ["raise", "skip"]),
        "labels": one_of(draw, ["auto", "auto", "number", None]),
        "dtype": one_of(draw, ["float32", "float64"]),
        "n_features": one_of(draw, [16, 64, 2**20, 2**20, 2**33, 7]),
        "max_line_bytes": one_of(draw, [2**24, 2**24, 50]),
    }
    if format in ("csv", "jsonl"):
        options.update(
            {
                name: value
                for name, value in (
                    ("label", one_of(draw, [None, "x", "label"])), ("text", one_of(draw, [None, None, "text"])),
                    ("weight", one_of(draw, [None, None, "weight", "y"])),
                    ("header", not chance(draw, 0.1) if format == "csv" else True),
                )
                if value is not None
            })
        if not options["header"]:
            options.update(label=0, text=one_of(draw, [None, 2]), weight=None)
    if format == "csv" and not data.startswith(b"label,x,text,y\n"):
        options["text"] = "text" if options["header"] else 2
    elif format == "csv":  # (otherwise the first block tells what columns hold)
        options["kinds"] = dict(zip(("label", "x", "text", "y") if options["header"] else "0123", KINDS, strict=True))
    if format in ("tsv", "jsonl", "csv", "vw") and chance(draw, 0.3):
        options["vectorizer"] = one_of(draw, ["own", "names", "char", "replace", "pattern"])
        options.pop("n_features")
    if chance(draw, 0.15):
        pack = one_of(draw, [gzip.compress, lambda raw: bz2.compress(raw, 1), lambda raw: lzma.compress(raw, preset=0)])
        data = pack(data)
        data = mutated_bytes(draw, data, times=1) if chance(draw, 0.7) else data
    return options, data


def vectorizer_of(name):
    return {
        "own": lambda: HashingVectorizer(n_features=64),
        "names": lambda: FeatureNames(HashingVectorizer(n_features=64), 9),
        "char": lambda: HashingVectorizer(n_features=64, analyzer="char", ngram_range=(1, 3)),
        "replace": lambda: HashingVectorizer(n_features=64, decode_error="replace"),
        "pattern": lambda: HashingVectorizer(n_features=64, token_pattern=r"[a-z]+"),
    }[name]()


def rows_of(options, data, **more):
    """Return what a stream gives: (labels, columns, values, ends, weights), the error, and the skipped rows."""
    options = {**options, **more}
    if "vectorizer" in options:
        options["vectorizer"] = vectorizer_of(options["vectorizer"])
    labels, columns, values, lengths, weights, error, skipped = [], [], [], [], [], "", ()
    try:
        stream = read(io.BytesIO(data), **options)
    except (ValueError, TypeError) as refusal:
        assert str(refusal).startswith(("<stream>", "read:")) or "<stream>" in str(refusal), repr(refusal)
        return [], str(refusal), ()
    width, tables, vectorizer = None, [], TableVectorizer(4)
    try:
        with stream:
            for X, y, weight in stream:
                width = sound(X, y, weight, options, width)
                if y is not None:
                    labels += y.tolist()
                if not hasattr(X, "indptr"):
                    tables = learnt(vectorizer, X, tables)
                    continue
                columns.append(np.asarray(X.indices, np.int64)), values.append(X.data), lengths.append(np.diff(X.indptr))
                weights += [] if weight is None else weight.tolist()
    except ValueError as refusal:
        assert str(refusal).startswith(("<stream>", "read:", "HashingVectorizer", "labels must be")), repr(refusal)
        error = str(refusal)
    skipped = () if error else (stream.n_skipped, stream.skipped)  # (after an error those since the last batch are not counted)
    found = [np.concatenate(part).tolist() if part else [] for part in (columns, values, lengths)]
    return [labels, *found, weights, repr(tables)], error, skipped


def learnt(vectorizer, X, before):
    """Return the values of rows of tables, those before them included; None once one is refused, as its batch then is."""
    try:
        return before if before is None else [*before, *vectorizer.learn_transform(X).data.tolist()]
    except (ValueError, TypeError) as error:
        assert str(error).startswith("TableVectorizer"), repr(error)


def sound(X, y, weight, options, width):
    """Check that learners take the batch."""
    n = len(X) if isinstance(X, list) else X.shape[0]
    assert n > 0 and (y is None or len(y) == n) and (weight is None or len(weight) == n)
    if not hasattr(X, "indptr"):
        return None
    d = X.shape[1]
    assert X.indptr[0] == 0 and X.indptr[-1] == len(X.data) == len(X.indices) and (np.diff(X.indptr) >= 0).all()
    assert not len(X.indices) or 0 <= X.indices.min() <= X.indices.max() < d
    assert np.isfinite(X.data).all() and (width is None or width == d)
    assert y is None or y.dtype.kind == "U" or np.isfinite(y).all()
    assert weight is None or (np.isfinite(weight).all() and weight.min() >= 0.0)
    inner = np.ones(len(X.indices), bool)
    inner[X.indptr[:-1][X.indptr[:-1] < len(inner)]] = False
    assert (np.diff(X.indices)[inner[1:]] > 0).all() if len(X.indices) > 1 else True, "columns that do not rise"
    return d


def check(case):
    options, data = case
    first = rows_of(options, data)
    for more in ({"block_bytes": 7}, {"batch_rows": 2, "prefetch": False}):
        other = rows_of(options, data, **more)
        assert other == first, f"{more}: {first[1:]} and {other[1:]}"
    if options["on_error"] == "raise" and first[1]:
        skipping = rows_of({**options, "on_error": "skip"}, data)
        if options["labels"] != "auto" or not skipping[0] or not first[0]:
            return "refused"
        n = len(first[0][3])
        assert skipping[0][3][:n] == first[0][3], "rows before the error are others where lines are skipped"
    return "refused" if first[1] else "skipped" if first[2] and first[2][0] else "read"
