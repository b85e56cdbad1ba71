"""Stream real text messages once through every classifier: progressive mistakes, final accuracy, speed, a plot.

    python examples/demo.py [--picture onlinecls-demo.png]

The README's picture is the one of ``--picture docs/demo.png``.

The data are the 5,574 messages of the SMS Spam Collection, which ship with the package, in their original order. The first four
fifths are the stream: each message is predicted, then learnt. The rest is held out.
"""

import argparse
import time

import numpy as np

import onlinecls
from onlinecls import bounds, progressive_validation
from onlinecls._registry import ALGORITHMS
from onlinecls.datasets import load_sms_spam

CLASSES = ["ham", "spam"]
STEP = 40  # messages between two points of a curve
DRAWN = ("perceptron", "pa1", "aggressive_sop", "adagrad_md", "cw_stdev", "arow")  # more curves are hard to tell apart
# Where the default is for rows of another scale: entropic weights are within norm_bound, 1, and 0.2 x 1 is no margin of 1.
TUNED = {"entropic": {"norm_bound": 1000.0, "sigma": 1000.0}, "ogd_sqrt": {"eta0": 10.0}}
BINARY = [a for a in ALGORITHMS.values() if "binary" in a.tasks]


def make(algorithm):
    tuned = TUNED.get(algorithm.name) or TUNED.get(algorithm.geometry, {})
    return getattr(onlinecls, algorithm.estimator)(**algorithm.selects, **tuned)


def rate(algorithm, X, y, repeats=5):
    """Measure the messages learnt in a second, the median of a few runs."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        make(algorithm).partial_fit(X, y, CLASSES)
        seconds.append(time.perf_counter() - start)
    return len(y) / np.median(seconds)


def committee(X, y):
    """Run Hedge over all classifiers, each an expert on batches that none has learnt yet."""
    experts = [make(algorithm) for algorithm in BINARY]
    hedge = onlinecls.HedgeClassifier()
    for start in range(0, len(y), STEP):
        rows = slice(start, start + STEP)
        if start:
            advice = np.column_stack([expert.predict(X[rows]) == CLASSES[1] for expert in experts])
            hedge.partial_fit(advice.astype(float), y[rows], CLASSES)
        for expert in experts:
            expert.partial_fit(X[rows], y[rows], CLASSES)
    return hedge


def certificates(X, y):
    """Return losses of some learners along the stream with their theorems' bounds, for weights fitted in hindsight."""
    signs = np.where(y == CLASSES[1], 1, -1)
    own = {"scale": 1.0, "fit_intercept": False, "dtype": np.float64}
    known = onlinecls.DualAscentClassifier(0.3, **own, max_iter=20, random_state=0).fit(X, signs)
    u = [known.coef_[0] * size for size in (0.2, 0.4, 0.6, 1.0)]
    learners = {
        "Perceptron": onlinecls.Perceptron(eta0=1.0, **own), "PA-I": onlinecls.PassiveAggressiveClassifier(C=1.0, **own),
        "NAROW": onlinecls.NAROWClassifier(b=1.0, initial_variance=1.0, **own),
    }
    return {name: bounds.certify(bounds.follow(learner, X, signs), u) for name, learner in learners.items()}


def draw(results, found, path):
    """Draw the progressive error of a learner of each kind, ordered by final error, and mistakes with their bounds."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from onlinecls.plotting import BoundDisplay, ProgressiveDisplay

    figure, (left, right) = plt.subplots(1, 2, figsize=(15, 5), layout="constrained")
    ProgressiveDisplay.from_results({ALGORITHMS[name].title: results[ALGORITHMS[name].title] for name in DRAWN}, ax=left)
    left.set(xlabel="messages seen", title="SMS spam, one pass: each message is predicted, then learnt")
    BoundDisplay.from_certificates(found, ax=right)
    right.set(xlabel="messages seen", ylabel="mistakes so far (NAROW: updates)", yscale="log", title="What the theorems allow")
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", default="onlinecls-demo.png", help="where to write the learning curves")
    args = parser.parse_args()

    X, y = load_sms_spam()
    n_stream = len(y) * 4 // 5
    stream, held_out = slice(0, n_stream), slice(n_stream, None)
    print(f"SMS Spam Collection: {n_stream} messages to learn, {len(y) - n_stream} held out, {X.nnz / len(y):.1f} words each,")
    print(f"hashed to {X.shape[1]} columns; {np.mean(y == 'spam'):.1%} are spam.\n")
    print(f"{'algorithm':<42}{'mistakes':>9}{'error':>8}{'held-out':>10}{'updates':>9}{'messages/s':>12}")
    results = {}
    for algorithm in BINARY:
        learner, speed = make(algorithm), rate(algorithm, X[stream], y[stream])
        results[algorithm.title] = progressive_validation(learner, (X[stream], y[stream]), classes=CLASSES, every=STEP)
        print(
            f"{algorithm.title:<42}{learner.n_mistakes_:>9}{learner.n_mistakes_ / learner.t_:>8.2%}"
            f"{learner.score(X[held_out], y[held_out]):>10.2%}{learner.n_updates_:>9}{speed:>12,.0f}"
        )
    hedge = committee(X[stream], y[stream])
    title = f"{ALGORITHMS['hedge'].title}: the above, {STEP} at a time"
    print(f"{title:<42}{hedge.n_mistakes_:>9}{hedge.n_mistakes_ / hedge.t_:>8.2%}{'':>10}{hedge.n_updates_:>9}")
    print("\nmistakes, error: while learning; held-out: accuracy after it; updates: messages that changed the model.")
    print(f"All as they come, but for: {TUNED}.")
    try:
        draw(results, certificates(X[stream], y[stream]), args.picture)
    except ImportError:
        print("No picture: matplotlib is not installed (pip install 'onlinecls[demo]').")
    else:
        print(f"Learning curves: {args.picture}")


if __name__ == "__main__":
    main()
