"""Draws the two pictures of the site's first page and of the README, from docs/speed.csv and the docs/accuracy_*.csv.

    PYTHONPATH=benchmarks python -m studies.home

measures nothing: run it after `peers.py --write` or `accuracy.py --write`. It needs matplotlib (the extra `demo`).
"""

from pages import DOCS, means, readme_times

OURS, OTHERS = "#1f77b4", "#b0b0b0"
SPEED = {  # title of a bar -> learner of docs/speed.csv
    "AROW": "AROW",
    "passive-aggressive": "PA-I (PA with C=inf)",
    "scikit-learn SGDClassifier": "scikit-learn SGDClassifier, hinge",
    "scikit-learn PassiveAggressive": "scikit-learn PassiveAggressiveClassifier",
    "Vowpal Wabbit, from its cache": "VW hinge, from its binary cache",
    "river PAClassifier": "river PAClassifier, 1000 rows as dicts",
}
MISTAKES = {  # title -> learners of docs/accuracy_two.csv and docs/accuracy_several.csv
    "AROW": ("arow", "arow ovr"),
    "AdaGrad": ("adagrad_md", "adagrad_md ovr"),
    "Vowpal Wabbit, hinge": ("VW hinge", "VW oaa"),
    "passive-aggressive": ("pa1", "pa1 ovr"),
    "scikit-learn SGDClassifier": ("SGD hinge", "SGD hinge"),
}
LIBRARIES = ("scikit-learn", "Vowpal", "river")


def bars(ax, values, label):
    """Draw a bar for each title, ours in colour, with the figure at its end."""
    names = list(values)
    colours = [OTHERS if name.startswith(LIBRARIES) else OURS for name in names]
    drawn = ax.barh(names, list(values.values()), color=colours)
    ax.bar_label(drawn, labels=[label(value) for value in values.values()], padding=4)
    ax.invert_yaxis()
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    ax.set_xticks([])
    ax.tick_params(axis="y", length=0)


def draw():
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["font.size"] = 11
    speed = readme_times()
    figure, ax = plt.subplots(figsize=(7.5, 3.2), layout="constrained")
    times = {name: float(speed[row]["ns a non-zero"]) for name, row in SPEED.items()}
    bars(ax, times, lambda ns: f"{ns:,.{1 if ns < 10 else 0}f} ns")
    ax.set_xscale("log")
    ax.set_xlim(min(times.values()) / 3, max(times.values()) * 3)
    ax.set_xticks([])
    ax.minorticks_off()
    ax.set_title("time to learn one non-zero (logarithmic)", loc="left", fontsize=12)
    figure.savefig(DOCS / "home_speed.png", dpi=110)

    figure, axes = plt.subplots(1, 2, figsize=(7.5, 3.2), layout="constrained", sharey=True)
    for i, (ax, found, title) in enumerate(zip(axes, means(), ("two classes", "several classes"), strict=True)):
        bars(ax, {name: float(found[pair[i]]) for name, pair in MISTAKES.items()}, "{:.1f} %".format)
        ax.margins(x=0.25)
        ax.set_title(f"mistakes, {title}", loc="left", fontsize=12)
    axes[1].invert_yaxis()  # (both share an axis, which has now been turned twice)
    figure.savefig(DOCS / "home_mistakes.png", dpi=110)


if __name__ == "__main__":
    draw()
