"""NAROW paper, section 6, Fig. 3: four orderings of the same rows, without and with 10 % of the labels flipped.

Where the paper says when learners begin to make many mistakes, or stop, a line that breaks is fitted to their mean curves. Each
sentence is read with both forms of AdaGrad: by dual averaging, the paper's Fig. 1 with AdaGrad's f_t, or by mirror descent.
"""

import sys
from functools import cache, partial
from itertools import combinations, product
from operator import itemgetter

import numpy as np
from common import COLOURS, FULL, SMOKE, ellipsoid, flipped, keep, listed, mistakes_along, picture, plt, reading, sentence

from onlinecls import AROWClassifier, NAROWClassifier, PassiveAggressiveClassifier
from onlinecls.reference import DualMatrixAdaGrad, MatrixAdaGrad

ROWS, EVERY, REPETITIONS = (400, 20, 2) if SMOKE else (5000, 50, 100 if FULL else 20)
NO = {"scale": 1.0, "fit_intercept": False}
FORMS = {"dual averaging": DualMatrixAdaGrad, "mirror descent": MatrixAdaGrad}
MAKE = {  # learners of parameters, and these to choose from
    "PA-I": (lambda C: PassiveAggressiveClassifier(C=C, **NO), [(10.0**k,) for k in range(-5, 2)]),
    "AROW": (lambda r: AROWClassifier(r=r, covariance="full", **NO), [(10.0**k,) for k in range(-2, 6)]),
    "NAROW": (lambda b: NAROWClassifier(b=b, initial_variance=1.0, covariance="full", **NO), [(10.0**k,) for k in range(-5, 3)]),
    **{form: (partial(cls, 20), list(product([0.01, 0.1, 1.0, 10.0], [1e-3, 1.0, 100.0]))) for form, cls in FORMS.items()},
}
ORDERS = {
    "easy to hard": lambda X, y, side: np.argsort(-np.abs(side)), "hard to easy": lambda X, y, side: np.argsort(np.abs(side)),
    "by the first feature": lambda X, y, side: np.argsort(X[:, 0] * y),
    "by the third feature": lambda X, y, side: np.argsort(X[:, 2] * y),
}
EASY, HARD, *FEATURES = ORDERS
NOISE, SHOWN = (0.0, 0.1), ("PA-I", "AROW", "NAROW", "AdaGrad")
CLEAN, NOISY = ([(order, noise) for order in FEATURES] for noise in NOISE)


def along(learner, X, seen, y):
    """Return the mistakes against y after every so many rows of one pass."""
    if not isinstance(learner, MatrixAdaGrad):
        return mistakes_along(learner, X, seen, y, EVERY)[1]
    wrong, w = [], learner.w
    for x, label, clean in zip(X, seen, y, strict=True):
        wrong.append((w @ x > 0.0) != (clean > 0.0))
        if label * (w @ x) < 1.0 and learner.step(label * x):
            w = learner.w
    return np.cumsum(wrong)[EVERY - 1 :: EVERY]


def ordered(order, seed):
    """Return rows in an order, their labels, and the random generator."""
    X, y, side = ellipsoid(ROWS, rng := np.random.default_rng(seed), 8.5)
    at = ORDERS[order](X, y, side) if order else np.arange(ROWS)
    return X[at], y[at], rng


def run(order, noise, seed, parameters):
    """Return each learner's curve on one random set."""
    X, y, rng = ordered(order, seed)
    seen = flipped(y, noise, rng)
    return {name: along(MAKE[name][0](*values), X, seen, y) for name, values in parameters.items()}


@cache
def broken_line(curve, n_breaks):
    """Return where the line that fits a curve best by least squares breaks, and its slopes."""
    at, curve = EVERY * np.arange(len(curve) + 1.0), np.append(0.0, curve)
    best = np.inf, (), np.zeros(0)
    for breaks in combinations(at[1:-1], n_breaks):
        A = np.column_stack([at, *(np.maximum(at - one, 0.0) for one in breaks)])
        turns = np.linalg.solve(A.T @ A, A.T @ curve)
        best = min(best, (float(np.sum((A @ turns - curve) ** 2)), breaks, turns), key=lambda fit: fit[0])
    return [int(one) for one in best[1]], np.cumsum(best[2])


def draw(curves):
    """Draw the orderings, blue to red, and under each the mistakes without and with noise."""
    figure, axes = plt.subplots(3, 4, figsize=(13, 9), layout="constrained")
    for column, order in enumerate(ORDERS):
        X, _, _ = ordered(order, 0)
        axes[0, column].scatter(X[::5, 0], X[::5, 1], c=np.arange(ROWS)[::5], cmap="jet", s=4)
        axes[0, column].set(title=order, xlabel="first feature", ylabel="second feature")
        for ax, noise in zip(axes[1:, column], NOISE, strict=True):
            for name, curve in curves[order, noise].items():
                ax.plot(EVERY * np.arange(1, len(curve) + 1), curve, color=COLOURS[name], label=name)
            ax.set(title=f"{order}, {noise:.0%} noise", xlabel="examples", ylabel="mistakes so far")
    axes[1, 0].legend()
    picture(figure, "narow_figure_3")


# --- judges of the curves of a panel: what was found, and whether it holds ------------------------------------------------------


def judge(words, of, holds):
    """Make a judge of a number of each learner's curve, in the order of SHOWN."""
    def judged(curves):
        found = {name: float(of(tuple(curve))) for name, curve in curves.items()}
        return words + listed(found), bool(holds(*found.values()))

    return judged


def steep(curve):
    """Return the slope before and after two breaks, the larger, in percent of that between them."""
    before, between, after = broken_line(curve, 2)[1]
    return 100.0 * max(before, after) / between


LAST = itemgetter(-1)
OUTPERFORM = judge("", LAST, lambda pa, arow, narow, adagrad: pa > max(arow, narow, adagrad))
LEAST_TO_MOST = judge("", LAST, lambda pa, arow, narow, adagrad: arow < narow < adagrad < pa and adagrad - narow < narow - arow)
MOST_TO_LEAST = judge("", LAST, lambda pa, arow, narow, adagrad: pa > adagrad > arow > narow)
MORE = judge("", LAST, lambda *more: min(more) > 0)
FEW = judge("% in the first half: ", lambda curve: 100.0 * curve[len(curve) // 2 - 1] / curve[-1], lambda *early: max(early) < 20)
LINEAR = judge("% of the slope after the break: ", lambda curve: max(0.0, 100.0 * np.divide(*broken_line(curve, 1)[1][::-1])),
               lambda *rest: max(rest) < 10)
MIDDLE = judge("% of the slope between the breaks: ", steep, lambda *rest: max(rest) < 100)
STOPS = judge("rows ", lambda curve: broken_line(curve, 1)[0][0],
              lambda pa, arow, narow, adagrad: max(arow, narow) < adagrad < pa)
BEGINS = judge("rows ", lambda curve: broken_line(curve, 2)[0][0],
               lambda pa, arow, narow, adagrad: narow < min(pa, arow, adagrad))
TAKES = judge("rows ", lambda curve: np.ptp(broken_line(curve, 2)[0]),
              lambda pa, arow, narow, adagrad: narow > max(pa, arow, adagrad))
SENTENCES = [  # number, the paper's words, panels, judges by name
    ("N1", "[Easy to hard:] all the second order algorithms outperform the single first order algorithm - PA-I.", [(EASY, 0.0)],
     {"": OUTPERFORM}),
    ("N2", "All algorithms make few mistakes when receiving the first half of the data [less than a fifth].", [(EASY, 0.0)],
     {"": FEW}),
    ("N3", "Then ... more mistakes - PA-I the most, then AdaGrad and closely following NAROW, and AROW the least.", [(EASY, 0.0)],
     {"": LEAST_TO_MOST}),
    ("N4", "[Hard to easy:] ... making mistakes in a linear rate and then stop making mistakes.", [(HARD, 0.0)], {"": LINEAR}),
    ("N5", "AROW and NAROW stop making mistakes first, then AdaGrad and PA-I last.", [(HARD, 0.0)], {"": STOPS}),
    ("N6", "A similar trend can be found in the noisy dataset ... [easy to hard].", [(EASY, 0.1)],
     {"as N1": OUTPERFORM, "as N2": FEW, "as N3": LEAST_TO_MOST}),
    ("N6", "[The same, hard to easy.]", [(HARD, 0.1)], {"as N4": LINEAR, "as N5": STOPS}),
    ("N6", "... with each algorithm making relatively more mistakes.", [(EASY, "more"), (HARD, "more")], {"": MORE}),
    ("N7", "[By a feature:] not ... many mistakes in the beginning, then ... many mistakes for a while, and then they converge.",
     list(product(FEATURES, NOISE)), {"": MIDDLE}),
    ("N8", "In terms of total performance: PA-I makes more mistakes, then AdaGrad, AROW and NAROW.",
     list(product(FEATURES, NOISE)), {"": MOST_TO_LEAST}),
    ("N9", "However, NAROW starts to make many mistakes before the other algorithms ...", CLEAN, {"": BEGINS}),
    ("N10", "... and takes more \"examples\" to converge.", CLEAN, {"": TAKES}),
    ("N11", "This phenomena is further shown ... where label noise is injected.", NOISY, {"as N9": BEGINS, "as N10": TAKES}),
]


def read(name, table, one, panels):
    """Return a reading: what was found in the first panel where it does not hold, or else in the first of all."""
    order, noise, text, held = min(((*panel, *one(table[panel])) for panel in panels), key=lambda found: found[-1])
    where = f"{order}, {noise} mistakes with noise" if noise == "more" else f"{order}, {noise:.0%} noise"
    return reading(name, f"{where}: {text}", held)


def main():
    parameters = {  # those of the fewest mistakes on one random set, once for all panels, as in the paper
        name: min(grid, key=lambda values, name=name: run(None, 0.0, 10_000, {name: values})[name][-1])
        for name, (_, grid) in MAKE.items()}
    means, error = {}, 0.0
    for panel in product(ORDERS, NOISE):
        found = [run(*panel, seed, parameters) for seed in range(REPETITIONS)]
        means[panel] = {name: np.mean([curves[name] for curves in found], axis=0) for name in MAKE}
        error = max(error, *(np.std([curves[name][-1] for curves in found], ddof=1) / REPETITIONS**0.5 for name in MAKE))
    tables = {form: {panel: {name: of.get(name, of[form]) for name in SHOWN} for panel, of in means.items()} for form in FORMS}
    for table in tables.values():
        for order in (EASY, HARD):
            table[order, "more"] = {name: curve - table[order, 0.0][name] for name, curve in table[order, 0.1].items()}
    draw({panel: tables["dual averaging"][panel] for panel in means})
    sentences = [sentence(number, says, [read(", ".join(filter(None, (name, form))), table, one, panels)
                                         for name, one in judges.items() for form, table in tables.items()])
                 for number, says, panels, judges in SENTENCES]
    numbers = {", ".join(map(str, panel)): {name: float(curve[-1]) for name, curve in of.items()} for panel, of in means.items()}
    keep("narow_orders", "NAROW paper, section 6, Fig. 3", sentences, numbers, remarks=[
        f"mistakes by the mean of {REPETITIONS} repetitions (100 there), standard errors at most {error:.1f}; the noise of 18 "
        "features has the deviation 8.5; where learners begin and stop: the line with one or two breaks that fits best",
        "read with AdaGrad's full matrix by dual averaging and by mirror descent; parameters: " + ", ".join(
            f"{name} {' and '.join(f'{value:g}' for value in values)}" for name, values in parameters.items())])


if __name__ == "__main__":
    sys.exit(main())
