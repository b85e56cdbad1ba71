"""Micro and macro F1 of learners of several labels a row, into docs/several_labels.md.

    PYTHONPATH=benchmarks python -m studies.several_labels [--write]

Each learns the first two thirds of the rows in one pass and predicts the others; rows have unit length. Sets:

    20news      posts, whose labels are the parts of the group's name: comp.sys.mac.hardware has four
    debian      descriptions of packages: the section, and which of 40 frequent words have been cut out of the text
    synthetic   scikit-learn's make_multilabel_classification, 20 labels, 200 columns

scikit-learn's OneVsRestClassifier learns each label in a pass of its own, with SGDClassifier (hinge, one epoch) or with
AROWClassifier.
"""

import re
import time
import warnings
from collections import Counter
from itertools import chain

import corpora
import numpy as np
from pages import options, shown, table, write_between_if

from onlinecls import AROWClassifier, MultiLabelClassifier
from onlinecls.measures import MultiLabelMeasures
from onlinecls.text import HashingVectorizer

from . import seconds

N, BITS = 18_000, 18
LEARNERS = {
    "AROW, all": lambda: MultiLabelClassifier("arow"),
    "AROW, worst": lambda: MultiLabelClassifier("arow", update="worst"),
    "PA, all": lambda: MultiLabelClassifier("pa"),
    "PA, worst": lambda: MultiLabelClassifier("pa", update="worst"),
    "scikit-learn, a label at a time: SGD": lambda: one_vs_rest("sgd"),
    "scikit-learn, a label at a time: AROW": lambda: one_vs_rest("arow"),
}


def one_vs_rest(name):
    """Return scikit-learn's wrapper of a learner of one epoch."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.multiclass import OneVsRestClassifier

    sgd = SGDClassifier(loss="hinge", max_iter=1, tol=None, shuffle=False, random_state=0)
    return OneVsRestClassifier(sgd if name == "sgd" else AROWClassifier(max_iter=1, shuffle=False))


def texts(name):
    """Return the labels and the texts of a file, in random order."""
    labels, found = corpora.labelled_texts(name)
    order = np.random.default_rng(0).permutation(len(found))[:N]
    return [labels[i] for i in order], [found[i] for i in order]


def newsgroups():
    groups, posts = texts("20news-train")
    return vectors(posts), [sorted(set(re.split(r"\W", group))) for group in groups]


def debian():
    sections, descriptions = texts("debian-sections")
    words = [re.findall(r"[^\W\d_]{5,}", text.lower()) for text in descriptions]
    counts = Counter(chain.from_iterable(map(set, words)))
    cut = {word for word, _ in counts.most_common(60)[20:]}
    pattern = re.compile(rf"\b({'|'.join(sorted(cut))})\b", re.IGNORECASE)
    labels = [[f"in {section}", *sorted(cut.intersection(each))] for section, each in zip(sections, words, strict=True)]
    return vectors([pattern.sub(" ", text) for text in descriptions]), labels


def synthetic():
    from sklearn.datasets import make_multilabel_classification
    from sklearn.preprocessing import normalize

    X, has = make_multilabel_classification(N, 200, n_classes=20, n_labels=3, length=60, random_state=0)
    return normalize(X), [np.flatnonzero(row).tolist() for row in has]


def vectors(documents):
    return HashingVectorizer(n_features=1 << BITS, norm="l2", dtype=np.float32).transform(documents)


def measured(make, X, labels, has):
    """Return micro F1, macro F1 and the share of rows predicted exactly, and the seconds of learning."""
    n = 2 * len(labels) // 3
    learner = make()
    learn = learner.partial_fit if hasattr(learner, "algorithm") else learner.fit
    took = seconds(lambda: learn(X[:n], has[:n]), time.perf_counter)
    found = MultiLabelMeasures(np.arange(has.shape[1])).update(has[n:], learner.predict(X[n:]))
    return f"{found.micro_f1:.3f}", f"{found.macro_f1:.3f}", f"{100 * found.exact:.1f} %", f"{took:.2f}"


def rows():
    for name, read in (("20news", newsgroups), ("debian", debian), ("synthetic", synthetic)):
        X, labels = read()
        classes = sorted(set(chain.from_iterable(labels)))
        places = {label: k for k, label in enumerate(classes)}
        has = np.zeros((len(labels), len(classes)), np.uint8)
        for row, own in zip(has, labels, strict=True):
            row[[places[label] for label in own]] = 1
        yield f"**{name}**: {len(labels):,} rows, {len(classes)} labels, {has.sum() / len(has):.1f} a row", "", "", "", ""
        for title, make in LEARNERS.items():
            yield title, *measured(make, X, labels, has)


def main():
    args = options(__doc__)
    warnings.simplefilter("ignore")  # (labels without a row, of scikit-learn)
    head = "", "micro F1", "macro F1", "rows exactly right", "seconds"
    write_between_if(args.write, "several_labels.md", "several labels", table(head, shown(rows())))


if __name__ == "__main__":
    main()
