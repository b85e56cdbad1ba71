"""Time of one row of a table that is learnt and predicted by itself, by what is in it, and of names never met.

    PYTHONPATH=benchmarks python -m studies.rows [--write]

--write puts the table into docs/tables.md.
"""

import datetime as dt
import time
from collections.abc import Iterator

import numpy as np
from pages import options, table, write_between_if

from onlinecls import AROWClassifier, make_stream_pipeline
from onlinecls.tables import TableVectorizer

N = 500  # rows of a kind


def rows_of_kinds() -> dict[str, tuple[list[dict], list]]:
    draw = np.random.default_rng(0)
    words, texts = [f"w{k}" for k in range(3000)], ["stays", "leaves"] * (N // 2)

    def rows(n: int, **more) -> list[dict]:
        return [{**{f"n{k}": float(draw.normal()) for k in range(n)}, **{name: make() for name, make in more.items()}}
                for _ in range(N)]

    return {
        "8 numbers, a name": (rows(8, c=lambda: "xyz"[draw.integers(3)]), texts),
        "the same, labels of numpy": (rows(8, c=lambda: "xyz"[draw.integers(3)]), list(np.arange(N) % 2)),
        "20 numbers": (rows(20), texts),
        "19 numbers, a `datetime`": (rows(19, d=lambda: dt.datetime(2024, int(draw.integers(1, 13)), 1, 10, 30)), texts),
        "19 numbers, 10 words in a list": (rows(19, v=lambda: draw.choice(words, 10).tolist()), texts),
        "19 numbers, 10 numbers in a list": (rows(19, v=lambda: draw.normal(size=10).tolist()), texts),
        "19 numbers, 3 names in a list": (rows(19, v=lambda: draw.choice(words, 3).tolist()), texts),
    }


def least(run, n: int, repeats: int = 9) -> float:
    """Return the least time of a call, of some runs of n calls, in microseconds."""
    found = []
    for _ in range(repeats):
        began = time.perf_counter()
        for k in range(n):
            run(k)
        found.append(1e6 * (time.perf_counter() - began) / n)
    return min(found)


def rows() -> Iterator[tuple[str, str, str]]:
    for kind, (rows, labels) in rows_of_kinds().items():
        model = make_stream_pipeline(TableVectorizer(), AROWClassifier())
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)
        learn = least(lambda k, model=model, rows=rows, labels=labels: model.learn_one(rows[k], labels[k]), N)
        predict = least(lambda k, model=model, rows=rows: model.predict_one(rows[k]), N)
        yield kind, f"{learn:.1f}", f"{predict:.1f}"
    model = make_stream_pipeline(TableVectorizer(), AROWClassifier())
    for start in range(0, 1_000_000, 100_000):
        rows = [{f"word{start + 10 * k + j}": 1 for j in range(10)} for k in range(10_000)]
        began = time.perf_counter()
        for k, row in enumerate(rows):
            model.learn_one(row, "ab"[k % 2])
        if start in (0, 900_000):
            told = f"behind {start:,} others" if start else "the first 100,000 of them"
            yield f"10 columns never met, {told}", f"{1e6 * (time.perf_counter() - began) / len(rows):.1f}", ""


def main() -> None:
    head = "a row of", "`learn_one`, µs", "`predict_one`, µs"
    write_between_if(options(__doc__).write, "tables.md", "rows", table(head, rows()))


if __name__ == "__main__":
    main()
