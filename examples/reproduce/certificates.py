"""Each theorem on a stream of text messages, and on one with adversarial labels."""

import sys

import numpy as np
from common import SMOKE, claim, keep, picture, plt

from onlinecls import (
    AROWClassifier,
    DualAscentClassifier,
    NAROWClassifier,
    PassiveAggressiveClassifier,
    Perceptron,
    SecondOrderPerceptron,
    bounds,
)
from onlinecls.datasets import load_sms_spam
from onlinecls.plotting import BoundDisplay

NO = {"fit_intercept": False, "dtype": np.float64}
LEARNERS = {
    "Perceptron": Perceptron(eta0=1.0, **NO),
    "PA-I": PassiveAggressiveClassifier(C=1.0, **NO),
    "second-order Perceptron": SecondOrderPerceptron(r=1.0, aggressive=True, initial_variance=1.0, **NO),
    "NAROW": NAROWClassifier(b=1.0, initial_variance=1.0, **NO),
    "dual ascent, DA2 (losses)": DualAscentClassifier(1.0, update="DA2", norm_bound=1.0, **NO),
}


def main():
    X, labels = load_sms_spam()
    X, y = (X[:300], labels[:300]) if SMOKE else (X, labels)
    y = np.where(y == "spam", 1, -1)
    machine = DualAscentClassifier(0.3, fit_intercept=False, intercept_scaling=1.0, max_iter=20, random_state=0).fit(X, y)
    u = [machine.coef_[0].astype(float) * size for size in (0.2, 0.4, 0.6, 0.8, 1.0, 1.5)]
    found = {name: bounds.follow(learner, X, y, u=u) for name, learner in LEARNERS.items()}

    rng = np.random.default_rng(0)
    A = rng.standard_normal((100 if SMOKE else 600, 20)) / 20**0.5
    against = {}
    for name, learner in {**LEARNERS, "AROW, full": AROWClassifier(r=1.0, covariance="full", **NO)}.items():
        walker = type(learner)(**learner.get_params()).partial_fit(A[:0], [], classes=[-1, 1])
        b = np.zeros(len(A))
        for t in range(len(A)):
            b[t] = -1.0 if walker.decision_function(A[t : t + 1])[0] > 0 else 1.0
            walker.partial_fit(A[t : t + 1], b[t : t + 1])
        against[name] = bounds.follow(learner, A, b)
    figure, (left, right) = plt.subplots(1, 2, figsize=(15, 5.5), layout="constrained")
    BoundDisplay.from_certificates(found, ax=left, log_y=True)
    BoundDisplay.from_certificates(against, ax=right)
    left.set(title="text messages, spam or ham")
    right.set(title="labels that are always against the prediction: for u = 0 all mistakes are allowed")
    right.text(0.98, 0.03, "one line: both of the Perceptron, the second-order Perceptron, NAROW and AROW, and what PA-I pays",
               transform=right.transAxes, ha="right", fontsize="small")
    picture(figure, "certificates")
    claims, numbers = [], {}
    for where, certificates in (("text messages", found), ("an adversary", against)):
        for name, one in certificates.items():
            allowed = np.atleast_2d(one.allowed).min(axis=0)
            claims.append(claim(f"{name}, {where}: paid <= allowed after every row.",
                                f"{one.paid[-1]:.4g} of {allowed[-1]:.4g}", np.all(one.paid <= allowed + 1e-9), kind="theorem"))
            numbers[f"{name}, {where}"] = {"paid": float(one.paid[-1]), "allowed": float(allowed[-1])}
    keep("certificates", "all four papers: their theorems along a stream", claims, numbers,
         remarks=["the adversary's labels are against every prediction, and u is 0, for which the mistake bounds allow all rows: "
                  "they are reached there, and cannot be exceeded"])


if __name__ == "__main__":
    sys.exit(main())
