"""What scripts write into README.md and docs: text between two marker lines of a page.

    python benchmarks/pages.py

writes what follows from other things in the repository: the table of algorithms in docs/algorithms.md, from the registry, and
the README's tables of measurements, from those of docs/speed.md and docs/accuracy.md, and of classes, from their docstrings.
tests/project/test_pages.py compares.
"""

import inspect
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
README = ROOT / "README.md"

README_STREAM = "sentences"  # how the stream of the README's times begins in docs/speed.md

# Rows of the README's table: title, row of docs/speed.md, rows of docs/accuracy.md (two classes, several classes).
MEASURED = (
    ("**`AROWClassifier`**", "**AROW**", "arow", "arow ovr"),
    ("**`AdaGradClassifier`**", "**AdaGrad (mirror descent)**", "adagrad_md", "adagrad_md ovr"),
    ("**`PassiveAggressiveClassifier`**", "**PA-I (PA with C=inf)**", "pa1", "pa1 ovr"),
    ("scikit-learn `SGDClassifier`, hinge", "scikit-learn SGDClassifier, hinge", "SGD hinge", "SGD hinge"),
    ("Vowpal Wabbit, hinge, from its cache", "VW hinge, from its binary cache", "VW hinge", "VW oaa"),
)

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


def rows(table):
    """Return the rows of Markdown tables by their first cell; the first row wins."""
    found = {}
    for line in table.splitlines():
        if line.startswith("|"):
            title, *cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
            found.setdefault(title, cells)
    return found


def measurements():
    """Format the README's table of time and mean error, ours beside others, from the pages with all measurements."""
    tables = between(DOCS / "speed.md", "peers")[1].split("\n\n")
    stream, table = next((table.splitlines()[0].split("|")[1].strip(), table) for table in tables if README_STREAM in table)
    speed = rows(table)
    two, several = (rows(between(DOCS / "accuracy.md", name)[1]) for name in ("binary", "multiclass"))
    lines = [
        "| one pass, default parameters | ns a non-zero | times scipy's `X @ w` | error, two classes | error, several classes |",
        "|---|---:|---:|---:|---:|",
    ]
    for title, timed, binary, multiclass in MEASURED:
        ns, ratio = speed[timed][:2]
        lines.append(f"| {title} | {ns} | {ratio} | {two[binary][-1]} % | {several[multiclass][-1]} % |")
    lines += [
        "",
        f"Time: {stream}; one thread.",
        "Error: each row predicted before it is learnt; means over 10 sets of two classes and 8 of several.",
    ]
    return "\n".join(lines)


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
    (README, "measurements", measurements),
    (README, "begin_with", begin_with),
    (README, "classes", classes),
)


def write_derived():
    for path, name, make in DERIVED:
        write_between(path, name, make())


if __name__ == "__main__":
    write_derived()
