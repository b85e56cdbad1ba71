"""This checkout beside another one, built in place, in turns: what a change has cost or gained.

    python benchmarks/against.py ../before [--only calls passes commands] [--rounds 15] [--write]

Small calls and passes over real rows are measured in two processes that live for the whole run, one a checkout, each case in both
before the next; commands are processes of their own. All figures are processor time, the ratio is the median of those within a
round. --write puts the tables of what was measured into benchmarks/against.md.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import corpora
import numpy as np
from pages import ROOT, table, write_between_if

#: Learners whose passes are measured: class, parameters, rows.
PASSES = (
    ("Perceptron", {}, "sentences"), ("PassiveAggressiveClassifier", {}, "sentences"), ("AROWClassifier", {}, "sentences"),
    ("AROWClassifier", {"dtype": "float64"}, "sentences"), ("NAROWClassifier", {}, "sentences"),
    ("SCWClassifier", {}, "sentences"), ("AdaGradClassifier", {}, "sentences"), ("FTRLClassifier", {}, "sentences"),
    ("AROWClassifier", {"average": True}, "sentences"), ("AROWClassifier", {"probability": True}, "sentences"),
    ("PNormPerceptron", {}, "sentences"), ("DualAscentClassifier", {}, "sentences"), ("OGDClassifier", {}, "sentences"),
    ("DualAscentClassifier", {"regularizer": "entropic"}, "sentences"),
    ("MultiplicativePassiveAggressiveClassifier", {}, "sentences"),
    ("AROWRegressor", {}, "sentences"), ("PassiveAggressiveRegressor", {}, "sentences"),
    ("AROWClassifier", {}, "20 Newsgroups"), ("PassiveAggressiveClassifier", {}, "20 Newsgroups"),
    ("AROWClassifier", {"multi_class": "crammer_singer"}, "20 Newsgroups"),
    ("AROWClassifier", {}, "digits, dense"), ("AROWClassifier", {"covariance": "full"}, "digits, dense"),
    ("CommitteeClassifier", {}, "sentences"), ("CommitteeClassifier", {}, "20 Newsgroups"),
)
COMMANDS = ("--version", "train, ten lines", "train, 48 MB")
MEGABYTES = 48
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


# --- In the process of a checkout ---


def calls():
    """Return {title: (function that prepares, calls)} of small calls."""
    import calls as small

    return {title: (prepare, small.N_CALLS) for title, prepare in small.cases().items()}


def rows_named(name):
    """Return rows and labels: enough for a tenth of a second or more."""
    if name == "sentences":
        X, y = corpora.sentences()
        return X[:100_000], y[:100_000]
    if name == "20 Newsgroups":
        X, y = corpora.load("20news-train")
        return X[:4000], y[:4000]
    return corpora.dense_digits(2000)


def passes():
    """Return {title: (function that prepares, non-zeros)} of passes by fresh models, and of scores."""
    import onlinecls

    def learning(cls, params, X, y, labels):
        def prepare():
            model = getattr(onlinecls, cls)(**params)
            model.partial_fit(X[:16], y[:16], **labels)  # which determine its units
            return lambda: model.partial_fit(X, y)

        return prepare

    found, known = {}, {name: rows_named(name) for name in dict.fromkeys(name for *_, name in PASSES)}
    for cls, params, name in PASSES:
        X, y = known[name]
        words = ", ".join((f"`{cls}`", *(f"{key}={value}" for key, value in params.items()), name))
        labels = {} if cls.endswith("Regressor") else {"classes": np.unique(y)}
        found[words] = learning(cls, params, X, y, labels), X.nnz if hasattr(X, "nnz") else X.size
    for name in ("sentences", "20 Newsgroups"):
        X, y = known[name]
        model = onlinecls.AROWClassifier().partial_fit(X[:1000], y[:1000])
        found[f"`decision_function`, {name}"] = (lambda model=model, X=X: lambda: model.decision_function(X)), X.nnz
    return found


def work(kind):
    """Answer each title on standard input with its nanoseconds, the list of titles first, on one line."""
    warnings.simplefilter("ignore")
    cases = {"calls": calls, "passes": passes}[kind]()
    print("\t".join(cases), flush=True)
    for line in sys.stdin:
        prepare, size = cases[line.rstrip("\n")]
        run = prepare()
        start = time.process_time()
        run()
        print(1e9 * (time.process_time() - start) / size, flush=True)


# --- In turns ---


def environment(checkout):
    return {**os.environ, "PYTHONPATH": str(Path(checkout, "src").resolve())}


def in_turns(kind, checkouts, rounds):
    """Return {title: ([before], [after])} in nanoseconds."""
    command = [sys.executable, __file__, "--worker", kind]
    pipe = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    workers = [subprocess.Popen(command, env={**environment(checkout), **ONE_THREAD}, **pipe) for checkout in checkouts]
    try:
        titles = [worker.stdout.readline().rstrip("\n").split("\t") for worker in workers]
        found = {title: ([], []) for title in titles[1] if title in titles[0]}  # (in both)
        for turn in range(rounds + 1):  # the first warms up
            for title, times in found.items():
                for worker, own in zip(workers, times, strict=True):
                    print(title, file=worker.stdin, flush=True)
                    ns = float(worker.stdout.readline())
                    own.extend([ns] if turn else [])
        return found
    finally:
        for worker in workers:
            worker.stdin.close()
            worker.wait()


def commands(checkouts, rounds):
    """Return {title: ([before], [after])} in nanoseconds of processor time of whole processes."""
    with tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder, "few.tsv"), Path(folder, "many.tsv")
        few.write_text("ham\tlunch at noon\nspam\twin a free prize\n" * 5)
        texts = (corpora._read_text(corpora._require(name)) for name in ("imdb-train", "imdb-test"))
        text = "".join(f"{label}\t{text}\n" for part in texts for label, text in zip(*part, strict=True)).encode()
        text = text[: MEGABYTES * 10**6]
        many.write_bytes(text[: text.rfind(b"\n") + 1])
        arguments = [["--version"], ["train", str(few), "--quiet"], ["train", str(many), "--quiet"]]
        found = {title: ([], []) for title in COMMANDS}
        for turn in range(rounds + 1):
            for title, each in zip(COMMANDS, arguments, strict=True):
                for checkout, own in zip(checkouts, found[title], strict=True):
                    own.extend([processor_time(checkout, folder, each)] if turn else [])
    return found


def processor_time(checkout, folder, arguments):
    """Return nanoseconds of a command that runs as a user's does: with byte code."""
    own = {**environment(checkout), "PYTHONPYCACHEPREFIX": str(Path(folder, "byte-code"))}
    own.pop("PYTHONDONTWRITEBYTECODE", None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "onlinecls", *arguments]
    subprocess.run(command, env=own, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e9 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def rows(found, unit):
    """Yield medians, in units of so many nanoseconds, and the median ratio."""
    for title, (before, after) in found.items():
        ratio = statistics.median(b / a for a, b in zip(before, after, strict=True))
        yield title, *(f"{statistics.median(times) / unit:.3g}" for times in (before, after)), f"{ratio:.2f}"


TABLES = {  # kind: (what it measures, nanoseconds of its unit)
    "calls": ("a small call, µs", 1e3),
    "passes": ("a pass, ns a non-zero", 1.0),
    "commands": ("a command, ms", 1e6),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", nargs="?", help="the other checkout")
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="put the tables into benchmarks/against.md")
    parser.add_argument("--worker", choices=("calls", "passes"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        work(args.worker)
        return
    if args.before is None:
        parser.error("the other checkout is missing")
    checkouts = (args.before, ROOT)
    for kind in args.only:
        try:
            found = commands(checkouts, args.rounds) if kind == "commands" else in_turns(kind, checkouts, args.rounds)
        except FileNotFoundError as error:
            raise SystemExit(f"{error}; --only calls runs without data") from error
        head, unit = TABLES[kind]
        text = table((head, "before", "after", "ratio"), rows(found, unit))
        write_between_if(args.write, "../benchmarks/against.md", kind, text)


if __name__ == "__main__":
    main()
