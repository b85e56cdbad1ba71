"""NAROW paper, section 6, Fig. 3: four orderings of the same rows, without and with 10 % of the labels flipped.

Where the paper says when learners begin to make many mistakes, or stop, a line that breaks off is fitted to their curves. Each
sentence is read in all WAYS: of mean and of median curves, with AdaGrad by both its forms.
"""

import sys
from functools import cache
from itertools import combinations, product

import numpy as np
from common import COLOURS, DEVIATION, FULL, SMOKE, ellipsoid, flipped, keep, mistakes_along, picture, plt, reading, sentence

from onlinecls import AROWClassifier, NAROWClassifier, PassiveAggressiveClassifier
from onlinecls.reference import DualMatrixAdaGrad, MatrixAdaGrad

ROWS, EVERY, REPETITIONS = (400, 20, 2) if SMOKE else (5000, 50, 100 if FULL else 40)
STATISTICS = {"mean": np.mean, "median": np.median}
NO = {"scale": 1.0, "fit_intercept": False}
# "dual averaging" is the paper's Fig. 1 with AdaGrad's f_t(w) = w'(δI + G_t^(1/2))w/(2η); [9] has both forms.
FORMS = {"dual averaging": DualMatrixAdaGrad, "mirror descent": MatrixAdaGrad}
MAKE = {
    "PA-I": lambda C: PassiveAggressiveClassifier(C=C, **NO),
    "AROW": lambda r: AROWClassifier(r=r, covariance="full", **NO),
    "NAROW": lambda b: NAROWClassifier(b=b, initial_variance=1.0, covariance="full", **NO),
    **{form: lambda eta0, delta, cls=cls: cls(20, eta0, delta) for form, cls in FORMS.items()},
}
STEPS = list(product([0.01, 0.1, 1.0, 10.0], [1e-3, 1.0, 100.0]))
GRID = {
    "PA-I": [(10.0**k,) for k in range(-5, 2)],
    "AROW": [(10.0**k,) for k in range(-2, 6)],
    "NAROW": [(10.0**k,) for k in range(-5, 3)],
    "dual averaging": STEPS,
    "mirror descent": STEPS,
}
ORDERS = {
    "easy to hard": lambda X, y, side: np.argsort(-np.abs(side)),
    "hard to easy": lambda X, y, side: np.argsort(np.abs(side)),
    "by the first feature": lambda X, y, side: np.argsort(X[:, 0] * y),
    "by the third feature": lambda X, y, side: np.argsort(X[:, 2] * y),
}
LEFT, FEATURES, NOISE = list(ORDERS)[:2], list(ORDERS)[2:], (0.0, 0.1)
WAYS = list(product(STATISTICS, FORMS))
SHOWN = ("PA-I", "AROW", "NAROW", "AdaGrad")


def ordered(order, seed, deviation=DEVIATION):
    X, y, side = ellipsoid(ROWS, rng := np.random.default_rng(seed), deviation)
    at = ORDERS[order](X, y, side) if order else np.arange(ROWS)
    return X[at], y[at], rng


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


def run(order, noise, seed, chosen, deviation=DEVIATION):
    """Return each learner's curve on one random set and, behind it, the angle in degrees to the separator after half the rows."""
    X, y, rng = ordered(order, seed, deviation)
    seen, found, half = flipped(y, noise, rng), {}, ROWS // 2
    for name, values in chosen.items():
        learner = MAKE[name](*values)
        first = along(learner, X[:half], seen[:half], y[:half])
        w = learner.w if isinstance(learner, MatrixAdaGrad) else learner.coef_[0]
        angle = np.degrees(np.arccos((w[0] - w[1]) / (2.0**0.5 * np.linalg.norm(w))))
        then = along(learner, X[half:], seen[half:], y[half:])
        found[name] = np.concatenate([first, first[-1] + then, [angle]])
    return found


def choose():
    """Return the parameters of the fewest mistakes on one random set, once for all panels, as in the paper."""
    best = {}
    for name in MAKE:
        ends = [run(None, 0.0, 10_000, {name: values})[name][-2] for values in GRID[name]]
        best[name] = GRID[name][int(np.argmin(ends))]
    return best


@cache
def broken_line(curve, n_breaks):
    """Return where the line that fits a curve best by least squares breaks, its slopes, and its R²."""
    at, curve = EVERY * np.arange(len(curve) + 1.0), np.append(0.0, curve)
    best = np.inf, (), np.zeros(0)
    for breaks in combinations(at[1:-1], n_breaks):
        A = np.column_stack([at, *(np.maximum(at - one, 0.0) for one in breaks)])
        turns = np.linalg.solve(A.T @ A, A.T @ curve)
        best = min(best, (float(np.sum((A @ turns - curve) ** 2)), breaks, turns), key=lambda fit: fit[0])
    return [int(one) for one in best[1]], np.cumsum(best[2]), 1.0 - best[0] / np.sum((curve - curve.mean()) ** 2)


def lines(curves, n_breaks):
    return {name: broken_line(tuple(curve[:-1]), n_breaks) for name, curve in curves.items()}


def row_of(share, curves):
    """Return the row by which each learner has made so much of its mistakes."""
    return {name: EVERY * (1 + int(np.argmax(curve[:-1] >= share * curve[-2]))) for name, curve in curves.items()}


def draw(curves):
    """Draw the orderings, blue to red, and under each the mistakes without and with noise."""
    figure, axes = plt.subplots(3, 4, figsize=(17, 12), layout="constrained")
    at = EVERY * np.arange(1, ROWS // EVERY + 1)
    for column, order in enumerate(ORDERS):
        X, _, _ = ordered(order, 0)
        axes[0, column].scatter(X[:, 0], X[:, 1], c=np.arange(ROWS), cmap="jet", s=4)
        axes[0, column].set(title=order, xlabel="first feature", ylabel="second feature")
        for row, noise in enumerate(NOISE, start=1):
            ax = axes[row, column]
            for name, curve in curves[order, noise].items():
                ax.plot(at, curve[:-1], color=COLOURS[name], label=name)
            ax.set(title=f"{order}, {noise:.0%} noise", xlabel="examples", ylabel="mistakes so far")
            ax.grid(alpha=0.3)
    axes[1, 0].legend()
    picture(figure, "narow_figure_3")


def shown(found, form=".0f"):
    return ", ".join(f"{name} {value:{form}}" for name, value in sorted(found.items(), key=lambda item: item[1]))


def totals(curves):
    return {name: float(curve[-2]) for name, curve in curves.items()}


def last(name, of, what, sign=1.0):
    """Return a judge: whether a learner's number is above all others' (sign=-1: below)."""

    def judge(curves):
        found = of(curves)
        return f"{what} {shown(found)}", all(sign * found[name] > sign * value for one, value in found.items() if one != name)

    return judge


def few_at_first(curves):
    early = {name: 100.0 * float(curve[ROWS // EVERY // 2 - 1] / curve[-2]) for name, curve in curves.items()}
    return f"per cent {shown(early)}", max(early.values()) < 20.0


def least_to_most(curves):
    found = totals(curves)
    gaps = np.diff([found[name] for name in ("AROW", "NAROW", "AdaGrad", "PA-I")])
    return shown(found), gaps.min() > 0 and gaps.argmin() == 1


def most_to_least(curves):
    found = totals(curves)
    return shown(found), found["PA-I"] > found["AdaGrad"] > found["AROW"] > found["NAROW"]


def nearer(curves):
    found = {name: float(curve[-1]) for name, curve in curves.items()}
    between = found["NAROW"], found["AdaGrad"]
    return f"degrees {shown(found, '.1f')}", found["AROW"] < min(between) and max(between) < found["PA-I"]


def each_more(curves):
    return shown(totals(curves)), min(totals(curves).values()) > 0


def linear_then_none(curves):
    found = lines(curves, 1)
    rates = ", ".join(f"{name} {100 * slopes[0]:.0f} and {100 * max(slopes[1], 0.0):.1f}"
                      for name, (_, slopes, _) in found.items())
    return (f"mistakes a hundred rows before and after {rates}; R² at least {min(fit for *_, fit in found.values()):.3f}",
            all(fit > 0.95 and slopes[1] < 0.1 * slopes[0] for _, slopes, fit in found.values()))


def few_many_none(curves):
    found = lines(curves, 2)
    between = ", ".join(f"{name} {breaks[0]} and {breaks[1]}" for name, (breaks, *_) in found.items())
    steeper = {name: float(slopes[1] / max(slopes[0], slopes[2])) for name, (_, slopes, _) in found.items()}
    least = min(steeper, key=steeper.get)
    return (f"rows {between}; there {steeper[least]:.1f} times as steep or more ({least} the least)",
            steeper[least] > 2.0 and all(breaks[0] < ROWS * 0.75 and breaks[1] > ROWS * 0.25 for breaks, *_ in found.values()))


def in_order(of):
    def judge(curves):
        stops = of(curves)
        return f"rows {shown(stops)}", max(stops["AROW"], stops["NAROW"]) < stops["AdaGrad"] < stops["PA-I"]

    return judge


def at(of, n_breaks):
    """Return a function of curves that gives a number of each learner's breaks."""
    return lambda curves: {name: of(*breaks) for name, (breaks, *_) in lines(curves, n_breaks).items()}


MORE = "mistakes with noise less those without"
STOPS = {"where the line breaks off": in_order(at(lambda stop: stop, 1)),
         "the row of 99 % of the mistakes": in_order(lambda curves: row_of(0.99, curves))}
BEGINS = {"where the line turns steep": last("NAROW", at(lambda start, end: start, 2), "rows", -1.0),
          "the row of 10 % of the mistakes": last("NAROW", lambda curves: row_of(0.1, curves), "rows", -1.0)}
TAKES = {"length of the steep part": last("NAROW", at(lambda start, end: end - start, 2), "rows"),
         "the row where the steep part ends": last("NAROW", at(lambda start, end: end, 2), "rows"),
         "the row of 99 % of the mistakes": last("NAROW", lambda curves: row_of(0.99, curves), "rows")}
PLOTS = {  # of the sentences on the two columns on the left, name of a reading to judge
    "N1": {"mistakes": last("PA-I", totals, "mistakes")},
    "N2": {"less than a fifth of each learner's": few_at_first},
    "N3": {"mistakes, and AdaGrad and NAROW the nearest neighbours": least_to_most,
           "the angle to the target hyperplane after the first half": nearer},
    "N4": {"a line that breaks once, at a tenth of its slope after it": linear_then_none},
    "N5": STOPS,
}


def summed(runs):
    """Return of each way panel to curves, of runs by panel and learner."""
    tables = {(statistic, form): {
        panel: {name: STATISTICS[statistic](of.get(name, of[form]), axis=0) for name in SHOWN} for panel, of in runs.items()}
        for statistic, form in WAYS}
    for table, order in product(tables.values(), LEFT):
        table[order, MORE] = {name: curve - table[order, 0.0][name] for name, curve in table[order, 0.1].items()}
    return tables


def named(panel):
    return f"{panel[0]}, {panel[1]:.0%} noise" if panel[1] in NOISE else panel[0]


def sentences_of(tables):
    """Return sentences N1 to N11: of each judge at most two readings, ways in which it holds in all panels, and the others."""
    easy, hard = ([(order, noise) for noise in NOISE] for order in LEFT)
    columns = list(product(FEATURES, NOISE))
    clean, noisy = ([(order, noise) for order in FEATURES] for noise in NOISE)

    def told(number, says, *judges):
        readings = []
        for name, judge, panels in ((name, judge, panels) for of, panels in judges for name, judge in of.items()):
            found = {way: {named(panel): judge(tables[way][panel]) for panel in panels} for way in WAYS}
            for good in (True, False):
                ways = [way for way in WAYS if all(held for _, held in found[way].values()) == good]
                which = "; ".join(", ".join(way) for way in ways) if len(ways) < len(WAYS) else f"all {len(WAYS)} ways"
                if ways:
                    one = [f"{panel}: {text}" for panel, (text, held) in found[ways[0]].items() if held == good]
                    readings.append(reading(f"{name}: {which}", f"({', '.join(ways[0])}) " + "; ".join(one), good))
        return sentence(number, says, readings)

    similar = [({f"as {number}, {name}": judge for name, judge in of.items()}, panels[1:])
               for numbers, panels in ((("N1", "N2", "N3"), easy), (("N4", "N5"), hard))
               for number in numbers for of in [PLOTS[number]]]
    return [
        told("N1", "Focusing on the left plot [easy to hard], we observe that all the second order algorithms outperform the "
             "single first order algorithm - PA-I.", (PLOTS["N1"], easy[:1])),
        told("N2", "All algorithms make few mistakes when receiving the first half of the data - the easy examples.",
             (PLOTS["N2"], easy[:1])),
        told("N3", "Then all algorithms start to make more mistakes - PA-I the most, then AdaGrad and closely following NAROW, "
             "and AROW the least. In other words, AROW was able to converge faster to the target separating hyperplane just "
             "using \"easy\" examples ..., then NAROW and AdaGrad, with PA-I being the worst in this aspect.",
             (PLOTS["N3"], easy[:1])),
        told("N4", "[Hard to easy:] All algorithms follow a general trend of making mistakes in a linear rate and then stop "
             "making mistakes.", (PLOTS["N4"], hard[:1])),
        told("N5", "AROW and NAROW stop making mistakes first, then AdaGrad and PA-I last.", (PLOTS["N5"], hard[:1])),
        told("N6", "A similar trend can be found in the noisy dataset, with each algorithm making relatively more mistakes.",
             ({MORE: each_more}, [(order, MORE) for order in LEFT]), *similar),
        told("N7", "[By a feature:] In both cases, all algorithms do not make many mistakes in the beginning, then at some "
             "point, close to the middle of the input sequence, they start making many mistakes for a while, and then they "
             "converge.",
             ({"a line that breaks twice, steep (twofold) in the middle": few_many_none}, columns)),
        told("N8", "In terms of total performance: PA-I makes more mistakes, then AdaGrad, AROW and NAROW.",
             ({"mistakes": most_to_least}, columns)),
        told("N9", "However, NAROW starts to make many mistakes before the other algorithms ...", (BEGINS, clean)),
        told("N10", "... and takes more \"examples\" to converge until it stopped making mistakes.", (TAKES, clean)),
        told("N11", "This phenomena is further shown in the bottom plots where label noise is injected.",
             (BEGINS, noisy), (TAKES, noisy)),
    ]


def main():
    chosen, runs = choose(), {}
    for panel in product(ORDERS, NOISE):
        found = [run(*panel, seed, chosen) for seed in range(REPETITIONS)]
        runs[panel] = {name: np.array([curves[name] for curves in found]) for name in MAKE}
    tables = summed(runs)
    draw(tables[WAYS[0]])
    error = max(of[:, -2].std(ddof=1) / REPETITIONS**0.5 for found in runs.values() for of in found.values())
    other = {order: np.mean([run(order, 0.0, seed, {"PA-I": chosen["PA-I"]}, DEVIATION**0.5)["PA-I"][-2] for seed in range(10)])
             for order in LEFT}
    numbers = {", ".join(way): {named(panel): totals(table[panel]) for panel in runs} for way, table in tables.items()}
    first = tables[WAYS[0]]
    curves = {named(panel): {name: curve[:-1].tolist() for name, curve in first[panel].items()} for panel in runs}
    keep("narow_orders", f"NAROW paper, section 6, Fig. 3 ({REPETITIONS} repetitions, 100 there)", sentences_of(tables),
         {"parameters": chosen, "deviation of the noise": DEVIATION, "mistakes": numbers, "curves": curves}, remarks=[
             "8.5 is read as the deviation of the 18 features of noise: PA-I's mistakes are then "
             + " and ".join(f"{first[order, 0.0]['PA-I'][-2]:.0f}" for order in LEFT) + " in the two plots on the left, whose "
             "axes are marked up to 800 and 1,200; as the variance, " + " and ".join(f"{value:.0f}" for value in other.values()),
             f"each sentence is read in {len(WAYS)} ways: curves are means, as there, or medians; AdaGrad has its full matrix by "
             "dual averaging, which is the paper's Fig. 1 with AdaGrad's f_t, or by mirror descent, the other form of its own "
             "paper. What was found is told of the first of the ways that a row names, in parentheses",
             f"standard errors of the mean mistakes are at most {error:.1f}",
             "parameters are chosen once, on clean rows in random order: "
             + ", ".join(f"{name} {' and '.join(f'{value:g}' for value in values)}" for name, values in chosen.items()),
             "when learners begin and stop is told by the line that breaks once or twice and fits the curve best, and by rows at "
             "which a learner has made 10 % or 99 % of its mistakes"])


if __name__ == "__main__":
    sys.exit(main())
