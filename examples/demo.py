"""Stream real text messages once through classifiers at their defaults: mistakes, accuracy on new messages, speed, a picture.

    python examples/demo.py [--picture onlinecls-demo.png]

The data are the 5,574 messages of the SMS Spam Collection, which ship with the package, in their original order. The first four
fifths are the stream: each message is predicted, then learnt. The rest is held out. The README's picture is that of
``--picture docs/demo.png``.
"""

import argparse
import time

import numpy as np

import onlinecls
from onlinecls import bounds, progressive_validation
from onlinecls._registry import ALGORITHMS
from onlinecls.datasets import load_sms_spam

CLASSES = ["ham", "spam"]
TUNED = {  # geometries, and a rule, whose parameters must be chosen for the rows
    "entropic": "entropic dual ascent", "sinh": "multiplicative PA", "p_norm": "p-norm Perceptrons",
    "ogd_sqrt": "plain gradient descent"}
DRAWN = ("perceptron", "pa1", "aggressive_sop", "adagrad_md", "cw_stdev", "arow")  # more curves are hard to tell apart


def rate(learner, X, y):
    """Measure the messages learnt in a second, the median of five runs."""
    seconds = []
    for _ in range(5):
        fresh, start = type(learner)(**learner.get_params()), time.perf_counter()
        fresh.partial_fit(X, y, CLASSES)
        seconds.append(time.perf_counter() - start)
    return len(y) / np.median(seconds)


def certificates(X, y):
    """Return what three learners pay along the stream, and what their theorems allow, given weights fitted in hindsight."""
    y, own = np.where(y == "spam", 1, -1), {"scale": 1.0, "fit_intercept": False, "dtype": np.float64}
    known = onlinecls.DualAscentClassifier(0.3, **own, max_iter=20, random_state=0).fit(X, y)
    learners = {
        "Perceptron": onlinecls.Perceptron(eta0=1.0, **own), "PA-I": onlinecls.PassiveAggressiveClassifier(C=1.0, **own),
        "NAROW": onlinecls.NAROWClassifier(b=1.0, initial_variance=1.0, **own),
    }
    u = [known.coef_[0] * size for size in (0.2, 0.4, 0.6, 1.0)]
    return {name: bounds.certify(bounds.follow(learner, X, y), u) for name, learner in learners.items()}


def draw(results, found, path):
    """Draw the share of mistakes so far of some learners, and mistakes beside their bounds."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from onlinecls.plotting import BoundDisplay, ProgressiveDisplay

    figure, (left, right) = plt.subplots(1, 2, figsize=(15, 5), layout="constrained")
    ProgressiveDisplay.from_results({name: results[name] for name in DRAWN}, ax=left)
    left.set(xlabel="messages seen", title="SMS spam, one pass: each message is predicted, then learnt")
    BoundDisplay.from_certificates(found, ax=right)
    right.set(xlabel="messages seen", ylabel="mistakes so far (NAROW: updates)", yscale="log", title="What the theorems allow")
    figure.savefig(path, dpi=100)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", default="onlinecls-demo.png", help="where to draw the learning curves")
    picture, (X, y), results = parser.parse_args().picture, load_sms_spam(), {}
    n = len(y) * 4 // 5
    print(f"SMS Spam Collection: {n} messages to learn, {len(y) - n} held out, {X.nnz / len(y):.1f} words each; "
          f"{np.mean(y == 'spam'):.1%} are spam.\n")
    print(f"{'algorithm':<42}{'mistakes':>9}{'error':>8}{'held-out':>10}{'updates':>9}{'messages/s':>12}")
    for name, algorithm in ALGORITHMS.items():
        if "binary" in algorithm.tasks and not {name, algorithm.geometry} & TUNED.keys():
            learner = getattr(onlinecls, algorithm.estimator)(**algorithm.selects)
            speed = rate(learner, X[:n], y[:n])
            results[name] = progressive_validation(learner, (X[:n], y[:n]), classes=CLASSES, every=40)
            print(f"{name:<42}{learner.n_mistakes_:>9}{learner.n_mistakes_ / n:>8.2%}"
                  f"{learner.score(X[n:], y[n:]):>10.2%}{learner.n_updates_:>9}{speed:>12,.0f}")
    print("\nmistakes, error: while learning; held-out: accuracy after it; updates: messages that changed the model.\n"
          f"Not shown, as they must be tuned: {', '.join(TUNED.values())}.")
    try:
        draw(results, certificates(X[:n], y[:n]), picture)
    except ImportError:
        print("No picture: matplotlib is not installed (pip install 'onlinecls[plot]').")
    else:
        print(f"Learning curves: {picture}")


if __name__ == "__main__":
    main()
