"""Progressive errors of an idf as of the rows so far, and of a column of another size with and without a scaler.

    PYTHONPATH=benchmarks python -m studies.steps [--orders 3] [--rows 25000] [--write]

The sets are those of ../shared/data, in random orders, of each at most so many --rows. "fitted" is scikit-learn's
TfidfTransformer fitted to all rows beforehand, which no stream can be. The column of another size is the length of a review, as
VW's lines have it: `|w words |m len:123000`.
--write puts the tables into docs/steps.md.
"""

import re
import tempfile
import warnings
from pathlib import Path

import numpy as np
from corpora import TOKEN, labelled_texts, load
from pages import options, shown, table, write_between_if
from sklearn.feature_extraction.text import TfidfTransformer

from onlinecls import AROWClassifier, CommitteeClassifier, PassiveAggressiveClassifier
from onlinecls.steps import OnlineMaxAbsScaler, OnlineTfidf
from onlinecls.streams import read
from onlinecls.text import HashingVectorizer

TEXTS = (
    "sms-spam", "amazon-books", "amazon-dvd", "spamassassin", "imdb-train", "20news-train", "reuters21578-single-train",
    "debian-sections",
)
NUMBERS = ("a9a", "rcv1-vw-small", "ecml-spam-a-u00-tune")
LEARNERS = {"AROW": AROWClassifier, "PA-I": PassiveAggressiveClassifier}
WITH_COMMITTEE = {**LEARNERS, "committee": CommitteeClassifier}
ROWS = {
    "counts": lambda counts, lengths: counts,
    "l2": lambda counts, lengths: lengths,
    "online idf": lambda counts, lengths: OnlineTfidf().learn_transform(counts),
    "online idf, sublinear": lambda counts, lengths: OnlineTfidf(sublinear_tf=True).learn_transform(counts),
    "fitted idf": lambda counts, lengths: TfidfTransformer().fit_transform(counts),
}


def error(learner, X, y):
    """Return the share of rows that were mistaken just before they were learnt, in percent."""
    learner.partial_fit(X, y)
    return 100.0 * learner.n_mistakes_ / learner.t_


def idf(orders, n):
    totals = []
    for name in TEXTS:
        labels, texts = labelled_texts(name)
        found = []
        for seed in range(orders):
            order = np.random.default_rng(seed).permutation(len(texts))[:n]
            y, rows = np.array(labels)[order], [texts[i] for i in order]
            counts = HashingVectorizer(norm=None, alternate_sign=False, token_pattern=TOKEN).transform(rows)
            lengths = HashingVectorizer(alternate_sign=False, token_pattern=TOKEN).transform(rows)
            made = [make(counts, lengths) for make in ROWS.values()]
            found.append([error(learner(), X, y) for learner in LEARNERS.values() for X in made])
        totals.append(np.mean(found, axis=0))
        yield name, f"{len(order):,}", *(f"{each:.2f}" for each in totals[-1])
    yield "mean", "", *(f"{each:.2f}" for each in np.mean(totals, axis=0))


def reviews(n, factor):
    """Return lines of VW of n reviews; factor : of the length in characters, 0 for lines without it."""
    labels, texts = labelled_texts("imdb-train")
    lines = []
    for i in np.random.default_rng(0).permutation(len(texts))[:n].tolist():
        words = re.findall(TOKEN, texts[i].lower())
        more = f" |m len:{factor * len(texts[i])} first={words[0]}" if factor else ""
        lines.append(f"{'1' if labels[i] == 'pos' else '-1'} |w {' '.join(words)}{more}")
    return lines


def of_vw(lines):
    """Return Vowpal Wabbit's progressive error at its defaults, with the hinge loss."""
    from vowpalwabbit import Workspace

    vw, wrong = Workspace("--loss_function hinge --binary -b 18 --quiet"), 0
    for line in lines:
        wrong += vw.predict(line.partition(" ")[2]) != int(line.partition(" ")[0])
        vw.learn(line)
    vw.finish()
    return f"{100.0 * wrong / len(lines):.2f}"


def sizes(n, path):
    def row(name, batches, last):
        scaler, found = OnlineMaxAbsScaler(), [learner() for learner in WITH_COMMITTEE.values() for _ in range(2)]
        for X, y in batches:
            scaled = scaler.learn_transform(X)
            for k, learner in enumerate(found):
                learner.partial_fit(scaled if k % 2 else X, y)
        return name, f"{found[0].t_:,}", *(f"{100.0 * each.n_mistakes_ / each.t_:.2f}" for each in found), last

    for name, factor in (("imdb-train", 0), ("imdb-train, `len:123`", 1), ("imdb-train, `len:123000`", 1000)):
        written = reviews(n, factor)
        path.write_text("\n".join(written) + "\n", encoding="utf-8")
        with read(path, format="vw", n_features=2**18, dtype="float32") as stream:
            yield row(name, ((X, y) for X, y, _ in stream), of_vw(written))
    for name in NUMBERS:
        X, y = load(name, normalize=False)
        order = np.random.default_rng(0).permutation(len(y))[:n]
        yield row(name, [(X[order], y[order])], "")


def main():
    args = options(__doc__, orders=3, rows=25_000)
    warnings.simplefilter("ignore")
    head = ["set", "rows", *(f"{name}{scaled}" for name in WITH_COMMITTEE for scaled in ("", ", scaled")), "VW"]
    with tempfile.TemporaryDirectory() as folder:
        text = table(head, shown(sizes(args.rows, Path(folder) / "rows.vw")))
    write_between_if(args.write, "steps.md", "sizes", text)
    head = ["set", "rows", *(f"{name}, {rows}" for name in LEARNERS for rows in ROWS)]
    write_between_if(args.write, "steps.md", "idf", table(head, shown(idf(args.orders, args.rows))))


if __name__ == "__main__":
    main()
