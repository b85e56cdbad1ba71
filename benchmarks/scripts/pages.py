"""The tables that stand between two marker lines in README.md and in the pages of docs.

    python benchmarks/scripts/pages.py                     # no measuring: what follows from docs/*.csv and from the registry
    python benchmarks/scripts/pages.py text drift --write  # measures these tables and writes them into their pages
    python benchmarks/scripts/pages.py all --small         # each of them once, on little data: does it run?

A table whose markers its page does not have is only printed. tests/project/test_pages.py compares the first kind.
"""

import argparse
import csv
import importlib
import inspect
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS, README = ROOT / "docs", ROOT / "README.md"

#: name of a measured table: (the module whose function of this name makes it, page, markers)
MEASURED = {
    "text": ("times", "text.md", "speed"), "cost": ("times", "speed.md", "cost"), "rows": ("times", "tables.md", "rows"),
    "full": ("times", "full_covariance.md", "speed"), "full_memory": ("times", "full_covariance.md", "memory"),
    "threads": ("times", "scale.md", "threads"), "workers": ("times", "scale.md", "workers"),
    "kernels": ("errors", "kernels.md", "budgets"), "probabilities": ("errors", "probabilities.md", "probabilities"),
    "drift": ("errors", "drift.md", "drift"), "rounding": ("errors", "full_covariance.md", "drift"),
    "shards": ("errors", "scale.md", "shards"), "classes": ("errors_of_tables", "tables.md", "classes"),
    "numbers": ("errors_of_tables", "tables.md", "numbers"), "home": ("times", "", ""),
}  # fmt: skip
#: Rows of the README's table: title, learner of docs/speed.csv, learners of docs/accuracy_two.csv and docs/accuracy_several.csv.
README_ROWS = (
    ("**`AROWClassifier`**", "AROW", "arow", "arow ovr"),
    ("**`AdaGradClassifier`**", "AdaGrad (mirror descent)", "adagrad_md", "adagrad_md ovr"),
    ("**`PassiveAggressiveClassifier`**", "PA-I (PA with C=inf)", "pa1", "pa1 ovr"),
    ("scikit-learn `SGDClassifier`, hinge", "scikit-learn SGDClassifier, hinge", "SGD hinge", "SGD hinge"),
    ("Vowpal Wabbit, hinge, from its cache", "VW hinge, from its binary cache", "VW hinge", "VW oaa"),
)
#: Columns of the table of docs/speed.md: title -> learner of docs/speed.csv with two and with several classes.
TIMED = {
    "Perceptron": ("Perceptron", "Perceptron crammer_singer"),
    "PA-I": ("PA-I (PA with C=inf)", "PA-I (PA with C=inf) crammer_singer"),
    "AROW": ("AROW", "AROW ovr"),
    "scikit-learn SGD": ("scikit-learn SGDClassifier, hinge",) * 2,
    "VW": ("VW hinge, from its binary cache", "VW oaa, from its text format"),
    "river PA": ("river PAClassifier, 1000 rows as dicts", ""),
}
ERRING = ("committee", "arow", "narow", "scw1", "adagrad_md", "pa1", "perceptron", "VW hinge", "VW logistic", "VW oaa",
          "SGD hinge", "SGD log_loss")


def markers(name):
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"


def between(path, name):
    """Split a page at the markers of a name: (before, text between them, after); None where it does not have them once each."""
    page, (begin, end) = path.read_text(encoding="utf-8"), markers(name)
    if page.count(begin) != 1 or page.count(end) != 1:
        return None
    head, rest = page.split(begin)
    text, tail = rest.split(end)
    return head, text.strip("\n"), tail


def write_between(path, name, text):
    """Replace the text between the markers of a name."""
    found = between(path, name) if path.exists() else None
    if found is None:
        print(f"(docs/{path.name} does not have the lines {' and '.join(markers(name))}: nothing was written)")
        return
    begin, end = markers(name)
    path.write_text(f"{found[0]}{begin}\n{text}\n{end}{found[2]}", encoding="utf-8")


def show(write, page, name, text):
    """Print a text and, if asked, put it between the markers of a name in a page of docs."""
    print(text, end="\n\n", flush=True)
    if write:
        write_between(DOCS / page, name, text)


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


def times_of(beginning):
    """Return the times of the stream whose name begins so, by learner."""
    return {line["learner"]: line for line in read_csv("speed.csv") if line["stream"].startswith(beginning)}


def means():
    """Return the mean errors by learner, of two classes and of several."""
    return [{line["learner"]: line["mean"] for line in read_csv(f"accuracy_{name}.csv")} for name in ("two", "several")]


def measurements():
    """Format the README's table of time and mean error, ours beside others."""
    speed, (two, several) = times_of("sentences"), means()
    head = ("one pass, default parameters", "ns a non-zero", "times scipy's `X @ w`", "error, two classes",
            "error, several classes")
    rows = [(title, speed[timed]["ns a non-zero"], speed[timed]["times the product"], f"{two[binary]} %", f"{several[more]} %")
            for title, timed, binary, more in README_ROWS]
    return (f"{table(head, rows)}\n\nTime: {speed['AROW']['stream']}: {speed['AROW']['rows']}; one thread.\n"
            "Error: each row predicted before it is learnt; means over 10 sets of two classes and 8 of several.")


def calls():
    """Format the tables of calls of docs/speed.md: a line a learner and a column a size of model; AROW's calls by kind."""
    lines, text = read_csv("calls.csv"), []
    for method in ("partial_fit", "predict"):
        found = [line for line in lines if line["call"].startswith(f"{method} of one row")]
        sizes = dict.fromkeys(line["call"].split(", ")[1].removesuffix(" columns") for line in found)
        rows = ([name, *(line["us"] for line in found if line["learner"] == name)]
                for name in dict.fromkeys(line["learner"] for line in found))
        text.append(table([f"`{method}` of one row, 100 nnz: µs a call", *sizes], rows))
    for call in ("partial_fit of 100 sentences, a row", "AROW, 2^20 columns"):
        text.append(table((call, "µs"), ((line["learner"], line["us"]) for line in lines if line["call"] == call)))
    return "\n\n".join(text)


def streams():
    """Format the table of docs/speed.md: nanoseconds a non-zero, a line a stream; the product comes first in the file."""
    rows = []
    for stream in dict.fromkeys(line["stream"] for line in read_csv("speed.csv")):
        found = {line["learner"]: line["ns a non-zero"] for line in read_csv("speed.csv") if line["stream"] == stream}
        known = ([found[name] for name in pair if name in found] for pair in TIMED.values())
        rows.append([stream, next(iter(found.values())), *(each[0] if each else "" for each in known)])
    return table(["ns a non-zero", "`X @ w`", *TIMED], rows)


def errors(lines, learners=ERRING):
    """Format errors, a line a learner and a column a set, and how often ours errs no more than the others' best."""
    chosen = [line for line in lines if learners is None or line["learner"].removesuffix(" ovr") in learners]
    sets = [key for key in lines[0] if key not in ("learner", "library", "mean")]
    least = {key: min(float(line[key]) for line in chosen) for key in ["mean", *sets]}
    rows = ([line["learner"], *(f"**{line[key]}**" if float(line[key]) == least[key] else line[key] for key in least)]
            for line in chosen)
    text = [table(["error, %", *least], rows)]
    for own in (line for line in lines if line["learner"].startswith(("committee", "arow"))):
        for library in ("Vowpal Wabbit", "scikit-learn"):
            others = [line for line in lines if line["library"] == library]
            if others:
                held = sum(float(own[key]) <= min(float(line[key]) for line in others) for key in sets)
                names = ", ".join(line["learner"] for line in others)
                said = f"`{own['learner']}` errs no more than the best of {library} ({names})"
                text += ["", f"{said} on {held} of {len(sets)} sets."]
    return "\n".join(text)


def algorithms():
    """Format the table of algorithms of docs/algorithms.md, from the registry."""
    import onlinecls
    from onlinecls._registry import ALGORITHMS

    rows = []
    for name, row in ALGORITHMS.items():
        defaults = inspect.signature(getattr(onlinecls, row.estimator)).parameters
        chosen = (f'{key}="{value}"' if isinstance(value, str) else f"{key}={value}"
                  for key, value in row.selects.items() if value != defaults[key].default)
        rows.append((f"`{name}`", f"`{row.estimator}({', '.join(chosen)})`", row.paper))
    return table(("algorithm", "in Python", "source"), rows, left=3)


#: (page, markers, function that makes the text) of all that needs no measuring.
DERIVED = (
    (README, "measurements", measurements),
    (DOCS / "speed.md", "streams", streams),
    (DOCS / "speed.md", "peers", calls),
    (DOCS / "accuracy.md", "binary", lambda: errors(read_csv("accuracy_two.csv"))),
    (DOCS / "accuracy.md", "multiclass", lambda: errors(read_csv("accuracy_several.csv"))),
    (DOCS / "algorithms.md", "algorithms", algorithms),
)


def write_derived():
    for path, name, make in DERIVED:
        write_between(path, name, make())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*MEASURED, "all", []], metavar="NAME", help="tables to measure")
    parser.add_argument("--write", action="store_true", help="put what was measured into the pages")
    parser.add_argument("--small", action="store_true", help="little data, one round: the figures mean nothing")
    args = parser.parse_args()
    if args.small and args.write:
        parser.error("small figures belong in no page: leave out --small or --write")
    for name in MEASURED if "all" in args.names else args.names:
        module, page, marker = MEASURED[name]
        print(f"{name}{page and f', docs/{page}'}:")
        found = getattr(importlib.import_module(module), name)(args.small)
        show(args.write and page, page, marker, found)
    if not args.names:
        write_derived()


if __name__ == "__main__":
    main()
