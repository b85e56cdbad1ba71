"""Real digits under label noise: full and diagonal covariances beside first-order learners, after AROW's Fig. 2b.

    python examples/digits.py [--quick | --write] [--picture onlinecls-digits.png]

The data are MNIST, read from ../shared/data/mnist.npz (or the folder that ONLINECLS_DATA names), arrays X_train, y_train, X_test,
y_test. Each learner makes one pass over two digits, over some rows of all ten (one against all), or over further pairs; with 10 %
noise every tenth training label is a wrong one. Test labels are always right. --quick takes fewer rows, in seconds;
--write puts the errors into docs/full_covariance.md.
"""

import argparse
import os
import sys
import time
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import numpy as np

import onlinecls

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ONLINECLS_DATA", ROOT / ".." / "shared" / "data"))
FULL = {"covariance": "full"}
# AROW's r: the best of a few powers of ten on three of the pairs. The others hardly depend on their parameters.
LEARNERS = {
    "PA": lambda: onlinecls.PassiveAggressiveClassifier(C=float("inf")),
    "AROW diagonal": lambda: onlinecls.AROWClassifier(r=10.0),
    "CW diagonal": lambda: onlinecls.ConfidenceWeightedClassifier(),
    "SOP full": lambda: onlinecls.SecondOrderPerceptron(r=1.0, **FULL),
    "CW full": lambda: onlinecls.ConfidenceWeightedClassifier(**FULL),
    "NAROW full": lambda: onlinecls.NAROWClassifier(b=0.1, **FULL),
    "AROW full": lambda: onlinecls.AROWClassifier(r=100.0, **FULL),
}
NOISE = (0.0, 0.1)


def load():
    path = DATA / "mnist.npz"
    if not path.exists():
        sys.exit(
            f"no {path}: the example needs MNIST as one file of arrays X_train, y_train, X_test and y_test. Nothing was done."
        )
    with np.load(path) as file:
        X, y, X_test, y_test = (file[name] for name in ("X_train", "y_train", "X_test", "y_test"))
    return (X / np.float32(255), y), (X_test / np.float32(255), y_test)


def only(rows, digits, limit=None):
    X, y = rows
    chosen = np.flatnonzero(np.isin(y, digits))[:limit]
    return X[chosen], y[chosen]


def spoilt(y, share, rng):
    """Replace a share of the labels by random other labels."""
    labels, codes = np.unique(y, return_inverse=True)
    wrong = rng.random(len(y)) < share
    return labels[(codes + wrong * rng.integers(1, len(labels), len(y))) % len(labels)]


def errors(train, test, digits, limit, names=LEARNERS):
    """Return the test error in per cent of each learner at each level of noise after one pass, and the seconds."""
    (X, y), (X_test, y_test) = only(train, digits, limit), only(test, digits)
    found = {}
    for noise in NOISE:
        labels = spoilt(y, noise, np.random.default_rng(0))
        for name in names:
            learner = LEARNERS[name]().partial_fit(X, labels, classes=digits)
            found[name, noise] = 100 * (1 - learner.score(X_test, y_test))
    return found


def show(title, found):
    print(f"\n{title}: test error in %, by the share of wrong training labels")
    print(f"{'':16}" + "".join(f"{noise:>8.0%}" for noise in NOISE))
    for name in dict.fromkeys(name for name, _ in found):
        print(f"{name:16}" + "".join(f"{found[name, noise]:8.2f}" for noise in NOISE))


def table(panels):
    """Format the errors, a row for each learner: without and with noise."""
    yield "| |" + "".join(f" {title} | {NOISE[1]:.0%} noise |".replace("%", " %") for title in panels)
    yield "|---|" + "---|---|" * len(panels)
    for name in LEARNERS:
        yield f"| {name} |" + "".join(f" {found[name, noise]:.2f} |" for found in panels.values() for noise in NOISE)


def draw(panels, path):
    """Draw one panel for each task, with a pair of bars for each learner."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(panels), figsize=(5.5 * len(panels), 4.5), layout="constrained")
    for ax, (title, found) in zip(axes, panels.items(), strict=True):
        names = list(dict.fromkeys(name for name, _ in found))[::-1]
        for offset, noise, colour in ((0.2, 0.0, "#4c78a8"), (-0.2, 0.1, "#e45756")):
            values = [found[name, noise] for name in names]
            bars = ax.barh(np.arange(len(names)) + offset, values, 0.38, color=colour, label=f"{noise:.0%} wrong labels")
            ax.bar_label(bars, fmt="%.1f", padding=3, fontsize=9)
        ax.set_yticks(np.arange(len(names)), names)
        ax.set(title=title, xlabel="test error after one pass, %")
        ax.margins(x=0.12)
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].legend(loc="best", frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="few rows: that it runs")
    how.add_argument("--write", action="store_true", help="put the errors into docs/full_covariance.md")
    parser.add_argument("--picture", default="onlinecls-digits.png")
    arguments = parser.parse_args()
    start = time.perf_counter()
    train, test = load()
    limit, n_pairs, n_all = (400, 2, 300) if arguments.quick else (None, 45, 10_000)

    panels = {"3 against 5": errors(train, test, [3, 5], limit)}
    show("3 against 5", panels["3 against 5"])

    pairs = list(combinations(range(10), 2))[:n_pairs]
    each = [errors(train, test, list(pair), 300 if arguments.quick else 3000) for pair in pairs]
    title = f"mean of {len(pairs)} pairs"
    panels[title] = {key: float(np.mean([found[key] for found in each])) for key in each[0]}
    show(title, panels[title])

    panels["one against all"] = errors(train, test, list(range(10)), n_all)
    show("one against all", panels["one against all"])

    if arguments.write:
        sys.path.insert(0, str(ROOT))
        from benchmarks.pages import write_between

        write_between(ROOT / "docs" / "full_covariance.md", "digits", "\n".join(table(panels)))
    draw(panels, arguments.picture)
    print(f"\n{arguments.picture}: the same as a picture. {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
