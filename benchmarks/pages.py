"""What scripts write into README.md and docs: text between two marker lines of a page.

    python benchmarks/pages.py

writes what follows from other things in the repository: the table of algorithms in docs/algorithms.md, from the registry, the
short tables of measurements in docs/speed.md, docs/accuracy.md and README.md, from the CSV files in docs, and the README's tables
of classes, from their docstrings. tests/project/test_pages.py compares.
"""

import csv
import inspect
import math
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"

README_STREAM = "sentences"  # how the stream of the README's times begins in docs/speed.csv

# Rows of the README's table: title, learner of docs/speed.csv, learners of docs/accuracy_two.csv and docs/accuracy_several.csv.
MEASURED = (
    ("**`AROWClassifier`**", "AROW", "arow", "arow ovr"),
    ("**`AdaGradClassifier`**", "AdaGrad (mirror descent)", "adagrad_md", "adagrad_md ovr"),
    ("**`PassiveAggressiveClassifier`**", "PA-I (PA with C=inf)", "pa1", "pa1 ovr"),
    ("scikit-learn `SGDClassifier`, hinge", "scikit-learn SGDClassifier, hinge", "SGD hinge", "SGD hinge"),
    ("Vowpal Wabbit, hinge, from its cache", "VW hinge, from its binary cache", "VW hinge", "VW oaa"),
)

# The short tables of docs/speed.md and docs/accuracy.md: title -> learner in the CSV files, with two and with several classes.
TIMED = {
    "`X @ w`": ("scipy X @ w", "scipy X @ W, W of 20 columns"),
    "Perceptron": ("Perceptron", "Perceptron crammer_singer"),
    "PA-I": ("PA-I (PA with C=inf)", "PA-I (PA with C=inf) crammer_singer"),
    "AROW": ("AROW", "AROW ovr"),
    "committee": ("Committee", "Committee"),
    "scikit-learn SGD": ("scikit-learn SGDClassifier, hinge", "scikit-learn SGDClassifier, hinge"),
    "VW": ("VW hinge, from its binary cache", "VW oaa, from its text format"),
    "river PA": ("river PAClassifier, 1000 rows as dicts", ""),
}
ERRING = ("committee", "arow", "narow", "scw1", "adagrad_md", "pa1", "perceptron", "VW hinge", "VW logistic", "VW oaa",
          "SGD hinge", "SGD log_loss")

BEGIN_WITH = ("AROWClassifier", "CommitteeClassifier", "PassiveAggressiveClassifier", "AROWRegressor", "StreamPipeline")


def markers(name):
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"


def between(path, name):
    """Split a page at the markers of a name: (before, text between them, after)."""
    page = path.read_text(encoding="utf-8")
    begin, end = markers(name)
    if page.count(begin) != 1 or page.count(end) != 1:
        raise SystemExit(f"{path.name} must hold the lines {begin} and {end} once each; nothing was written")
    head, rest = page.split(begin)
    text, tail = rest.split(end)
    return head, text.strip("\n"), tail


def write_between(path, name, text):
    """Replace the text between the markers of a name."""
    begin, end = markers(name)
    head, _, tail = between(path, name)
    path.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")


def read_csv(name):
    """Return the lines of a table of docs as dicts of texts."""
    with open(DOCS / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_csv(name, lines):
    """Write dicts of like keys as a table of docs."""
    with open(DOCS / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def times_of(stream):
    """Return the times of a stream by learner."""
    return {line["learner"]: line for line in read_csv("speed.csv") if line["stream"] == stream}


def readme_times():
    """Return the times of the README's stream by learner."""
    return times_of(next(line["stream"] for line in read_csv("speed.csv") if line["stream"].startswith(README_STREAM)))


def means():
    """Return the mean errors by learner, of two classes and of several."""
    return [{line["learner"]: line["mean"] for line in read_csv(f"accuracy_{name}.csv")} for name in ("two", "several")]


def measurements():
    """Format the README's table of time and mean error, ours beside others."""
    speed, (two, several) = readme_times(), means()
    one = speed["AROW"]
    lines = [
        "| one pass, default parameters | ns a non-zero | times scipy's `X @ w` | error, two classes | error, several classes |",
        "|---|---:|---:|---:|---:|",
    ]
    for title, timed, binary, multiclass in MEASURED:
        ns, ratio = speed[timed]["ns a non-zero"], speed[timed]["times the product"]
        lines.append(f"| {title} | {ns} | {ratio} | {two[binary]} % | {several[multiclass]} % |")
    lines += [
        "",
        f"Time: {one['stream']}: {one['rows']}; one thread.",
        "Error: each row predicted before it is learnt; means over 10 sets of two classes and 8 of several.",
    ]
    return "\n".join(lines)


def streams():
    """Format the table of docs/speed.md: nanoseconds a non-zero, a line a stream."""
    lines = ["| ns a non-zero | " + " | ".join(TIMED) + " |", "|---" + "|---:" * len(TIMED) + "|"]
    for stream in dict.fromkeys(line["stream"] for line in read_csv("speed.csv")):
        found = times_of(stream)
        names = [next((name for name in pair if name in found), None) for pair in TIMED.values()]
        names[0] = next(iter(found))  # (numpy's product of dense rows)
        lines.append(f"| {stream} | " + " | ".join(found[name]["ns a non-zero"] if name else "" for name in names) + " |")
    return "\n".join(lines)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def errors(lines, learners=None):
    """Format errors, a line a learner and a column a set, and how often AROW errs no more than the others' best."""
    chosen = [line for line in lines if learners is None or line["learner"].removesuffix(" ovr") in learners]
    sets = ["mean", *(key for key in lines[0] if key not in ("learner", "library", "mean"))]
    least = {key: min(float(line[key]) for line in chosen) for key in sets}
    text = ["| error, % | " + " | ".join(sets) + " |", "|---" + "|---:" * len(sets) + "|"]
    for line in chosen:
        cells = (f"**{line[key]}**" if float(line[key]) == least[key] else line[key] for key in sets)
        text.append(f"| {line['learner']} | " + " | ".join(cells) + " |")
    for own in (line for line in lines if line["learner"].startswith(("committee", "arow"))):
        for library in ("Vowpal Wabbit", "scikit-learn"):
            others = [line for line in lines if line["library"] == library]
            if others:
                least = [min(float(line[key]) for line in others) for key in sets[1:]]
                held = sum(float(own[key]) <= error for key, error in zip(sets[1:], least, strict=True))
                both = " and ".join(f"{geometric_mean(each):.2f} %" for each in ([float(own[key]) for key in sets[1:]], least))
                of = f"the best of {library} ({', '.join(line['learner'] for line in others)})"
                on = f"on {held} of {len(sets) - 1} sets; geometric means {both}."
                text += ["", f"`{own['learner']}` errs no more than {of} {on}"]
    return "\n".join(text)


def errors_two():
    """Format the table of two classes of docs/accuracy.md."""
    return errors(read_csv("accuracy_two.csv"), ERRING)


def errors_several():
    """Format the table of several classes of docs/accuracy.md."""
    return errors(read_csv("accuracy_several.csv"), ERRING)


def call(algorithm):
    """Format the call that makes an algorithm: its class with the arguments that are not defaults."""
    import onlinecls

    defaults = inspect.signature(getattr(onlinecls, algorithm.estimator)).parameters
    chosen = [f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}"
              for name, value in algorithm.selects.items() if value != defaults[name].default]
    return f"{algorithm.estimator}({', '.join(chosen)})"


def algorithms():
    """Format the table of algorithms of docs/algorithms.md."""
    from onlinecls._registry import ALGORITHMS

    lines = ["| algorithm | on the command line | in Python | source |", "|---|---|---|---|"]
    for name, algorithm in ALGORITHMS.items():
        on_command_line = f"`{name}`" if {"binary", "regression"} & set(algorithm.tasks) else ""
        lines.append(f"| {algorithm.title} | {on_command_line} | `{call(algorithm)}` | {algorithm.paper} |")
    return "\n".join(lines)


def described(names):
    """Format a table of classes with the first lines of their docstrings."""
    import onlinecls

    lines = ["| class | what it is |", "|---|---|"]
    return "\n".join([*lines, *(f"| `{name}` | {inspect.getdoc(getattr(onlinecls, name)).splitlines()[0]} |" for name in names)])


def begin_with():
    """Format the README's table of the classes that most users need."""
    return described(BEGIN_WITH)


def classes():
    """Format the README's table of the other classes, in the registry's order, wrappers last."""
    import onlinecls
    from onlinecls._registry import ALGORITHMS

    offered = dict.fromkeys([*(algorithm.estimator for algorithm in ALGORITHMS.values()), *onlinecls.__all__])
    return described(name for name in offered if isinstance(getattr(onlinecls, name), type) and name not in BEGIN_WITH)


# (page, markers' name, function that makes the text) of all that needs no measuring.
DERIVED = (
    (DOCS / "algorithms.md", "algorithms", algorithms),
    (DOCS / "speed.md", "streams", streams),
    (DOCS / "accuracy.md", "binary", errors_two),
    (DOCS / "accuracy.md", "multiclass", errors_several),
    (README, "measurements", measurements),
    (README, "begin_with", begin_with),
    (README, "classes", classes),
)


def write_derived():
    for path, name, make in DERIVED:
        write_between(path, name, make())


if __name__ == "__main__":
    write_derived()
