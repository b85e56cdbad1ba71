"""Time of one row of a table that is learnt and predicted by itself, by what is in it, and of names never met.

    PYTHONPATH=benchmarks python -m studies.rows [--write]

--write puts the table into docs/tables.md.
"""

import argparse
import datetime as dt
import time

import numpy as np
from pages import DOCS, write_between

from onlinecls import AROWClassifier, make_stream_pipeline
from onlinecls.tables import TableVectorizer

N = 500  # rows of a kind


def rows_of_kinds() -> dict[str, tuple[list[dict], list]]:
    """Return rows and labels of each kind."""
    draw = np.random.default_rng(0)
    words, texts = [f"w{k}" for k in range(3000)], ["stays", "leaves"] * (N // 2)

    def rows(n: int, **more) -> list[dict]:
        return [{**{f"n{k}": float(draw.normal()) for k in range(n)}, **{name: make() for name, make in more.items()}}
                for _ in range(N)]

    def day() -> str:
        return f"2024-{draw.integers(1, 13):02d}-{draw.integers(1, 28):02d}"

    return {
        "8 numbers, a name": (rows(8, c=lambda: "xyz"[draw.integers(3)]), texts),
        "the same, labels of numpy": (rows(8, c=lambda: "xyz"[draw.integers(3)]), list(np.arange(N) % 2)),
        "20 numbers": (rows(20), texts),
        "19 numbers, a date": (rows(19, d=day), texts),
        "19 numbers, a `datetime`": (rows(19, d=lambda: dt.datetime(2024, int(draw.integers(1, 13)), 1, 10, 30)), texts),
        "19 numbers, a text of 10 words": (rows(19, text=lambda: " ".join(draw.choice(words, 10))), texts),
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


def table() -> list[str]:
    lines = ["| a row of | `learn_one`, µs | `predict_one`, µs |", "|---|---:|---:|"]
    for kind, (rows, labels) in rows_of_kinds().items():
        model = make_stream_pipeline(TableVectorizer(), AROWClassifier())
        for row, label in zip(rows, labels, strict=True):
            model.learn_one(row, label)
        learn = least(lambda k, model=model, rows=rows, labels=labels: model.learn_one(rows[k], labels[k]), N)
        predict = least(lambda k, model=model, rows=rows: model.predict_one(rows[k]), N)
        lines.append(f"| {kind} | {learn:.1f} | {predict:.1f} |")
    return [*lines, *new_names()]


def new_names() -> list[str]:
    """Measure rows of ten names of columns that have never come, to a million."""
    model, lines = make_stream_pipeline(TableVectorizer(), AROWClassifier()), []
    for start in range(0, 1_000_000, 100_000):
        rows = [{f"word{start + 10 * k + j}": 1 for j in range(10)} for k in range(10_000)]
        began = time.perf_counter()
        for k, row in enumerate(rows):
            model.learn_one(row, "ab"[k % 2])
        lines.append(1e6 * (time.perf_counter() - began) / len(rows))
    return [f"| 10 columns never met, the first 100,000 of them | {lines[0]:.1f} | |",
            f"| 10 columns never met, behind 900,000 others | {lines[-1]:.1f} | |"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    lines = "\n".join(table())
    print(lines)
    if parser.parse_args().write:
        write_between(DOCS / "tables.md", "rows", lines)


if __name__ == "__main__":
    main()
