"""What scripts write into README.md and docs: text between two marker lines of a page.

    python benchmarks/pages.py

writes what follows from other things in the repository: the table of algorithms in docs/algorithms.md, from the registry, the
short tables of measurements in docs/speed.md, docs/accuracy.md and README.md, from the CSV files in docs.
tests/project/test_pages.py compares.
"""

import argparse
import csv
import inspect
import math
import sys
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
    "scikit-learn SGD": ("scikit-learn SGDClassifier, hinge", "scikit-learn SGDClassifier, hinge"),
    "VW": ("VW hinge, from its binary cache", "VW oaa, from its text format"),
    "river PA": ("river PAClassifier, 1000 rows as dicts", ""),
}
ERRING = ("committee", "arow", "narow", "scw1", "adagrad_md", "pa1", "perceptron", "VW hinge", "VW logistic", "VW oaa",
          "SGD hinge", "SGD log_loss")


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


def write_between_if(asked, page, name, text):
    """Print a text and, if asked, put it between the markers of a name in a page of docs."""
    print(text, end="\n\n", flush=True)
    if asked:
        write_between(DOCS / page, name, text)


def options(doc, **defaults):
    """Read the options of a script that writes a page: --write, and those of these names with their defaults.

    A default tells what an option takes: False nothing, a list any number of values; a type is that of a value, or of the values
    of a list, that may be missing.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put what was measured into the page")
    for name, default in defaults.items():
        one, nargs = (default[0], "*") if isinstance(default, list) else (default, None)
        kind, missing = (one, [] if nargs else None) if isinstance(one, type) else (type(one), default)
        takes = {"action": "store_true"} if default is False else {"type": kind, "nargs": nargs, "default": missing}
        parser.add_argument(f"--{name.replace('_', '-')}", **takes)
    return parser.parse_args()


def shown(rows):
    """Yield rows of a table, each printed when it comes: a long run shows how far it is."""
    for row in rows:
        print(*row, sep=" | ", file=sys.stderr, flush=True)
        yield row


def table(head, rows, left=1):
    """Format a table of Markdown, of titles and rows of cells; columns but the first `left` are aligned to the right."""
    lines = [f"| {' | '.join(head)} |", "|---" * left + "|---:" * (len(head) - left) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def read_csv(name):
    """Return the lines of a table of docs as dicts of texts."""
    with open(DOCS / name, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_csv(name, lines):
    """Write dicts as a table of docs."""
    with open(DOCS / name, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, dict.fromkeys(key for line in lines for key in line), lineterminator="\n")
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
    head = ("one pass, default parameters", "ns a non-zero", "times scipy's `X @ w`", "error, two classes",
            "error, several classes")
    rows = [(title, speed[timed]["ns a non-zero"], speed[timed]["times the product"], f"{two[binary]} %", f"{several[more]} %")
            for title, timed, binary, more in MEASURED]
    return (f"{table(head, rows)}\n\nTime: {one['stream']}: {one['rows']}; one thread.\n"
            "Error: each row predicted before it is learnt; means over 10 sets of two classes and 8 of several.")


def streams():
    """Format the table of docs/speed.md: nanoseconds a non-zero, a line a stream."""
    rows = []
    for stream in dict.fromkeys(line["stream"] for line in read_csv("speed.csv")):
        found = times_of(stream)
        names = [next((name for name in pair if name in found), None) for pair in TIMED.values()]
        names[0] = next(iter(found))  # (numpy's product of dense rows)
        rows.append([stream, *(found[name]["ns a non-zero"] if name else "" for name in names)])
    return table(["ns a non-zero", *TIMED], rows)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def errors(lines, learners=None):
    """Format errors, a line a learner and a column a set, and how often AROW errs no more than the others' best."""
    chosen = [line for line in lines if learners is None or line["learner"].removesuffix(" ovr") in learners]
    sets = ["mean", *(key for key in lines[0] if key not in ("learner", "library", "mean"))]
    least = {key: min(float(line[key]) for line in chosen) for key in sets}
    rows = ([line["learner"], *(f"**{line[key]}**" if float(line[key]) == least[key] else line[key] for key in sets)]
            for line in chosen)
    text = [table(["error, %", *sets], rows)]
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

    head = "algorithm", "on the command line", "in Python", "source"
    return table(head, (
        (row.title, f"`{name}`" if {"binary", "regression"} & set(row.tasks) else "", f"`{call(row)}`", row.paper)
        for name, row in ALGORITHMS.items()), left=4)


# (page, markers' name, function that makes the text) of all that needs no measuring.
DERIVED = (
    (DOCS / "algorithms.md", "algorithms", algorithms),
    (DOCS / "speed.md", "streams", streams),
    (DOCS / "accuracy.md", "binary", lambda: errors(read_csv("accuracy_two.csv"), ERRING)),
    (DOCS / "accuracy.md", "multiclass", lambda: errors(read_csv("accuracy_several.csv"), ERRING)),
    (README, "measurements", measurements),
)


def write_derived():
    for path, name, make in DERIVED:
        write_between(path, name, make())


if __name__ == "__main__":
    write_derived()
