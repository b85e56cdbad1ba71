"""Arrow and Parquet files with their bytes changed, and Arrow columns whose buffers lie."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from fuzz.mutation import chance, mutated_bytes, one_of, poked
from fuzz.texts import rows_of
from onlinecls.tables import TableVectorizer
from onlinecls.text import HashingVectorizer

N = 20


def column(draw):
    words = ["a", "two words", "", "ünï", "long enough to stand in a buffer of its own", None]
    texts = [one_of(draw, words if chance(draw, 0.3) else words[:-1]) for _ in range(N)]
    kind = one_of(
        draw,
        [
            "string", "large_string", "string_view", "dictionary", "binary", "float", "float", "int", "bool", "null", "list",
            "timestamp", "decimal", "half", "struct", "fixed",
        ])
    if kind in ("string", "large_string", "binary"):
        return pa.array(texts, getattr(pa, kind)())
    if kind == "string_view":
        return pa.array(texts, pa.string_view())
    if kind == "dictionary":
        return pa.array(texts).dictionary_encode()
    numbers = draw.integers(0, 5, N)
    return {
        "float": lambda: pa.array(draw.standard_normal(N).astype(one_of(draw, ["f4", "f8"]))),
        "int": lambda: pa.array(numbers.astype(one_of(draw, ["i1", "u2", "i4", "i8", "u8"]))),
        "bool": lambda: pa.array(numbers > 2), "null": lambda: pa.nulls(N), "list": lambda: pa.array([[1.0, 2.0]] * N),
        "timestamp": lambda: pa.array(numbers, pa.timestamp("s")),
        "half": lambda: pa.array(numbers.astype("f2")),
        "decimal": lambda: pa.array(numbers.tolist(), pa.decimal128(9, 2)),
        "struct": lambda: pa.array([{"a": 1}] * N),
        "fixed": lambda: pa.array([[1.0, 2.0, 3.0]] * N, pa.list_(pa.float64(), 3)),
    }[kind]()


def make(draw):
    names = ["label", *one_of(draw, [["text"], ["x", "y"], ["x", "text"], ["x"], ["x", "weight"]])]
    table, file = pa.table({name: column(draw) for name in names}), io.BytesIO()
    kind = one_of(draw, ["stream", "file", "parquet"])
    if kind == "parquet":
        pa.parquet.write_table(
            table, file,
            compression=one_of(draw, ["none", "snappy", "gzip"]),
            row_group_size=one_of(draw, [5, 100]),
            use_dictionary=bool(draw.integers(2)))
    else:
        with getattr(pa.ipc, f"new_{kind}")(file, table.schema) as out:
            out.write_table(table, max_chunksize=one_of(draw, [6, 100]))
    data = file.getvalue()
    if chance(draw, 0.9):
        data = bytearray(data)
        for _ in range(int(draw.geometric(0.6))):
            at, width = int(draw.integers(len(data))), int(draw.choice([1, 1, 4, 8]))
            data[at : at + width] = poked(draw, np.zeros(1, f"i{width}")).tobytes() if chance(draw, 0.5) else draw.bytes(width)
        data = mutated_bytes(draw, data, times=1) if chance(draw, 0.2) else bytes(data)
    options = {
        "format": "parquet" if kind == "parquet" else "arrow",
        "on_error": one_of(draw, ["raise", "skip"]),
        "labels": one_of(draw, ["auto", "number", None]),
    }
    if "weight" in names and chance(draw, 0.5):
        options["weight"] = "weight"
    if chance(draw, 0.4):
        options["vectorizer"] = one_of(draw, ["own", "names", "char", "replace", "pattern"])
    if chance(draw, 0.1):
        options["columns"] = True
    return options, data


def check(case):
    options, data = case
    if options.pop("columns", False):
        return columns(data)
    first = rows_of(options, data, prefetch=False)
    other = rows_of(options, data, batch_rows=3)
    if not any(
        "damaged" in error or "readable" in error for error in (first[1], other[1])
    ):  # (that is seen where a batch is read)
        counts = [(*each[:2], each[2][:1]) for each in (first, other)]  # (which of them are shown goes by column, then by row)
        assert counts[0] == counts[1], f"{first[1:]} and {other[1:]}"
    return "refused" if first[1] else "skipped" if first[2] and first[2][0] else "read"


def columns(data):
    """Columns of the file as they are handed to the vectorizers."""
    try:
        with pa.ipc.open_stream(data) as reader:
            batches = [batch.columns for batch in reader]
    except (pa.ArrowException, OSError, MemoryError, UnicodeDecodeError):
        return "no file"
    for batch in batches:
        for part in batch:
            try:
                X = HashingVectorizer(n_features=16).transform(part)
                assert X.shape == (len(part), 16)
            except (ValueError, TypeError) as error:
                assert str(error).startswith("HashingVectorizer") or isinstance(error, UnicodeDecodeError), repr(error)
            try:
                X = TableVectorizer(4).fit_transform({"column": part})
                assert X.shape == (len(part), 256 + 16) and np.isfinite(X.data).all()
            except (ValueError, TypeError) as error:
                assert str(error).startswith("TableVectorizer"), repr(error)
    return "columns"
