"""NAROW paper, Fig. 3: four orderings of the same rows, without and with 10 % of the labels flipped.

Where the paper says when learners begin to make many mistakes, or stop, a line that breaks off is fitted to their curves.
"""

import sys
from itertools import combinations, product

import numpy as np
from common import COLOURS, DEVIATION, SMOKE, claim, ellipsoid, flipped, keep, mistakes_along, picture, plt

from onlinecls import AdaGradClassifier, AROWClassifier, NAROWClassifier, PassiveAggressiveClassifier

ROWS, REPETITIONS, EVERY = (400, 2, 20) if SMOKE else (5000, 100, 50)
NO = {"fit_intercept": False}
MAKE = {
    "PA-I": lambda C: PassiveAggressiveClassifier(C=C, **NO),
    "AROW": lambda r: AROWClassifier(r=r, covariance="full", **NO),
    "NAROW": lambda b: NAROWClassifier(b=b, initial_variance=1.0, covariance="full", **NO),
    # As the paper's Fig. 1 has it: f_t(w) = w'(δI + G_t^(1/2))w/(2η). (OTHER: [9] has this form too.)
    "AdaGrad": lambda eta0, delta: AdaGradClassifier(eta0=eta0, delta=delta, matrix="full", update="dual_averaging", **NO),
}
OTHER = {"AdaGrad": lambda eta0, delta: AdaGradClassifier(eta0=eta0, delta=delta, matrix="full", **NO)}
GRID = {
    "PA-I": [(10.0**k,) for k in range(-5, 2)],
    "AROW": [(10.0**k,) for k in range(-2, 6)],
    "NAROW": [(10.0**k,) for k in range(-5, 3)],
    "AdaGrad": list(product([0.01, 0.1, 1.0, 10.0], [1e-3, 1.0, 100.0])),
}
ORDERS = {
    "easy to hard": lambda X, y, side: np.argsort(-np.abs(side)),
    "hard to easy": lambda X, y, side: np.argsort(np.abs(side)),
    "by the first feature": lambda X, y, side: np.argsort(X[:, 0] * y),
    "by the third feature": lambda X, y, side: np.argsort(X[:, 2] * y),
}


def ordered(order, seed):
    X, y, side = ellipsoid(ROWS, rng := np.random.default_rng(seed), DEVIATION)
    at = ORDERS[order](X, y, side) if order else np.arange(ROWS)
    return X[at], y[at], rng


def run(order, noise, seed, chosen, make=MAKE):
    """Return the curves of the learners on one random set."""
    X, y, rng = ordered(order, seed)
    seen = flipped(y, noise, rng)
    return {name: mistakes_along(make[name](*values), X, seen, y, EVERY)[1] for name, values in chosen.items()}


def choose(make):
    """Return the parameters of the fewest mistakes on one random set, once for all panels, as in the paper."""
    best = {}
    for name in make:
        ends = [run(None, 0.0, 10_000, {name: values}, make)[name][-1] for values in GRID[name]]
        best[name] = GRID[name][int(np.argmin(ends))]
    return best


def broken_line(curve, n_breaks):
    """Return where the line that fits a curve best by least squares breaks, its slopes, and its R²."""
    at, curve = EVERY * np.arange(len(curve) + 1.0), np.append(0.0, curve)
    best = np.inf, (), np.zeros(0)
    for breaks in combinations(at[1:-1], n_breaks):
        A = np.column_stack([at, *(np.maximum(at - one, 0.0) for one in breaks)])
        turns = np.linalg.solve(A.T @ A, A.T @ curve)
        best = min(best, (float(np.sum((A @ turns - curve) ** 2)), breaks, turns), key=lambda fit: fit[0])
    return [int(one) for one in best[1]], np.cumsum(best[2]), 1.0 - best[0] / np.sum((curve - curve.mean()) ** 2)


def draw(curves):
    """Draw the orderings, blue to red, and under each the mistakes without and with noise."""
    figure, axes = plt.subplots(3, 4, figsize=(17, 12), layout="constrained")
    at = EVERY * np.arange(1, ROWS // EVERY + 1)
    for column, order in enumerate(ORDERS):
        X, _, _ = ordered(order, 0)
        axes[0, column].scatter(X[:, 0], X[:, 1], c=np.arange(ROWS), cmap="jet", s=4)
        axes[0, column].set(title=order, xlabel="first feature", ylabel="second feature")
        for row, noise in enumerate((0.0, 0.1), start=1):
            ax = axes[row, column]
            for name in MAKE:
                ax.plot(at, curves[order, noise][name], color=COLOURS[name], label=name)
            ax.set(title=f"{order}, {noise:.0%} noise", xlabel="examples", ylabel="mistakes so far")
            ax.grid(alpha=0.3)
    axes[1, 0].legend()
    picture(figure, "narow_figure_3")


def leads(found, name, sign=1):
    """Return whether a learner's number is below all others' (sign=-1: above)."""
    return all(sign * found[name] < sign * value for other, value in found.items() if other != name)


def shown(found):
    return ", ".join(f"{name} {value:.0f}" for name, value in sorted(found.items(), key=lambda item: item[1]))


def main():
    chosen, curves, features = choose(MAKE), {}, ("by the first feature", "by the third feature")
    for order, noise in product(ORDERS, (0.0, 0.1)):
        runs = [run(order, noise, seed, chosen) for seed in range(REPETITIONS)]
        curves[order, noise] = {name: np.mean([curve[name] for curve in runs], axis=0) for name in MAKE}
    draw(curves)
    total = {panel: {name: float(curve[-1]) for name, curve in of.items()} for panel, of in curves.items()}
    lines = {(order, noise): {name: broken_line(curve, 1 if order == "hard to easy" else 2) for name, curve in of.items()}
             for (order, noise), of in curves.items() if order != "easy to hard"}

    claims = []
    for order, noise in product(("easy to hard", *features), (0.0, 0.1)):
        found, fewest = total[order, noise], "AROW" if order == "easy to hard" else "NAROW"
        second = "NAROW" if fewest == "AROW" else "AROW"
        panel = f"{order.capitalize()}, {noise:.0%} noise"
        claims += [
            claim(f"{panel}: PA-I makes the most mistakes.", shown(found), leads(found, "PA-I", -1), "see the numbers"),
            claim(f"{panel}: {fewest} makes the fewest.", shown(found), leads(found, fewest), "see the numbers"),
            claim(f"{panel}: AdaGrad makes more mistakes than {second}.", shown(found), found["AdaGrad"] > found[second],
                  "see the numbers"),
        ]
    early = {name: 100.0 * float(curve[len(curve) // 2 - 1] / curve[-1]) for name, curve in curves["easy to hard", 0.0].items()}
    claims.append(claim("Easy to hard, 0% noise: all make few mistakes in the first half.",
                        "per cent of a learner's mistakes that it makes there: " + shown(early), max(early.values()) < 20.0,
                        "see the numbers"))
    for noise in (0.0, 0.1):
        found = lines["hard to easy", noise]
        stops = {name: breaks[0] for name, (breaks, *_) in found.items()}
        claims.append(claim(
            f"Hard to easy, {noise:.0%} noise: AROW and NAROW stop making mistakes first, then AdaGrad, PA-I last.",
            "the line breaks off after so many rows: " + shown(stops),
            max(stops["AROW"], stops["NAROW"]) < stops["AdaGrad"] < stops["PA-I"], "see the numbers"))
    found = lines["hard to easy", 0.0]
    claims.append(claim(
        "Hard to easy, 0% noise: all make mistakes at a linear rate and then stop.",
        "mistakes a hundred rows before the line breaks off, and after it: "
        + ", ".join(f"{name} {100 * slopes[0]:.0f} and {100 * max(slopes[1], 0.0):.1f}" for name, (_, slopes, _) in found.items())
        + f"; R² of the lines at least {min(fit for *_, fit in found.values()):.3f}",
        all(fit > 0.95 and slopes[1] < 0.1 * slopes[0] for _, slopes, fit in found.values()), "see the numbers"))
    for order in ("easy to hard", "hard to easy"):
        clean, noisy = total[order, 0.0], total[order, 0.1]
        claims.append(claim(f"{order.capitalize()}: each makes more mistakes where labels are noisy.",
                            ", ".join(f"{name} {clean[name]:.0f} and {noisy[name]:.0f}" for name in MAKE),
                            all(noisy[name] > clean[name] for name in MAKE), "see the numbers"))
    for order in features:
        found = lines[order, 0.0]
        claims.append(claim(
            f"{order.capitalize()}, 0% noise: all make few mistakes in the beginning, many for a while, close to the middle, and "
            "then converge.",
            "the line is steep between the rows "
            + ", ".join(f"{name} {breaks[0]} and {breaks[1]}" for name, (breaks, *_) in found.items())
            + f"; R² at least {min(fit for *_, fit in found.values()):.3f}",
            all(breaks[0] < ROWS * 0.75 and breaks[1] > ROWS * 0.25 and slopes[1] > 2.0 * max(slopes[0], slopes[2])
                for breaks, slopes, _ in found.values()), "see the numbers"))
        for noise in (0.0, 0.1):
            found = lines[order, noise]
            begun = {name: breaks[0] for name, (breaks, *_) in found.items()}
            taken = {name: breaks[1] - breaks[0] for name, (breaks, *_) in found.items()}
            claims += [
                claim(f"{order.capitalize()}, {noise:.0%} noise: NAROW starts to make many mistakes before the others.",
                      "the line turns steep after so many rows: " + shown(begun), leads(begun, "NAROW"), "see the numbers"),
                claim(f"{order.capitalize()}, {noise:.0%} noise: NAROW takes more examples than the others until it converges.",
                      "the line is steep for so many rows: " + shown(taken), leads(taken, "NAROW", -1), "see the numbers"),
            ]
    by_descent, few = choose(OTHER), range(min(REPETITIONS, 10))
    other = {order: np.mean([run(order, 0.0, seed, by_descent, OTHER)["AdaGrad"][-1] for seed in few]) for order in features}
    numbers = {f"{order}, {noise:.0%} noise": {name: {"mistakes": value, "curve": curves[order, noise][name].tolist()}
                                                for name, value in of.items()} for (order, noise), of in total.items()}
    keep("narow_orders", f"NAROW paper, section 6, Fig. 3 ({REPETITIONS} repetitions)", claims,
         {"parameters": chosen, "deviation of the noise": DEVIATION, "panels": numbers, "AdaGrad by mirror descent": other},
         remarks=["8.5 is read as the standard deviation of the 18 features of noise, with which mistakes fit the figure's axes",
                  "parameters are chosen once, on clean rows in random order: "
                  + ", ".join(f"{name} {' and '.join(f'{value:g}' for value in values)}" for name, values in chosen.items()),
                  "AdaGrad has its full matrix, by dual averaging, which is the paper's Fig. 1 with AdaGrad's f_t; by mirror "
                  "descent, the other form of its own paper, its mistakes without noise are "
                  + " and ".join(f"{order} {other[order]:.0f} (AROW {total[order, 0.0]['AROW']:.0f})" for order in features),
                  "when learners begin and stop is told by the line that breaks once or twice and fits the curve best"])


if __name__ == "__main__":
    sys.exit(main())
