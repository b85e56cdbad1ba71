"""This checkout beside another one, both built in place: the benchmarks of asv's suite that a pattern finds, in turns.

    python benchmarks/scripts/against.py ../before --bench "Calls|RowLength" [--rounds 15]

asv compares commits that it builds itself (`make bench BASE=commit`); this compares what two folders hold, without a build. Both
run this checkout's suite, each in a process that lives for the whole run, every case in both before the next. Times are processor
time, children's included; the ratio is the median of those within a round, and `wins` how many rounds the other one took longer.
"""

import argparse
import importlib
import inspect
import itertools
import os
import re
import resource
import statistics
import subprocess
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = ("learning", "covariance", "calls", "texts", "tables")


def cases(pattern):
    """Return {title: (class, method, parameters)} of the suite's timed benchmarks."""
    found = {}
    for name in MODULES:
        module = importlib.import_module(f"benchmarks.{name}")
        for cls in (each for each in vars(module).values() if inspect.isclass(each) and each.__module__ == module.__name__):
            if cls.__name__.startswith("_"):
                continue
            for method in (each for each in dir(cls) if each.startswith("time_")):
                for params in itertools.product(*getattr(cls, "params", [])):
                    title = f"{cls.__name__}.{method}({', '.join(map(str, params))})"
                    if re.search(pattern, title):
                        found[title] = cls, method, params
    return found


def processor_time():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def work(pattern):
    """Say the titles on one line, then answer each that comes on standard input with its seconds, nan if it cannot be run."""
    warnings.simplefilter("ignore")
    known = cases(pattern)
    print("\t".join(known), flush=True)
    for line in sys.stdin:
        cls, method, params = known[line.rstrip("\n")]
        case, taken = cls(), float("nan")
        try:
            case.setup(*params)
            start = processor_time()
            getattr(case, method)(*params)
            taken = processor_time() - start
        except (NotImplementedError, TypeError, ValueError, AttributeError) as error:
            print(f"{line.strip()}: {error}", file=sys.stderr)
        finally:
            getattr(case, "teardown", lambda *_: None)(*params)
        print(taken, flush=True)


def in_turns(checkouts, pattern, rounds):
    """Return {title: ([seconds before], [seconds after])}."""
    workers = []
    for checkout in checkouts:
        paths = os.pathsep.join([str(Path(checkout, "src").resolve()), str(ROOT)])
        workers.append(subprocess.Popen(
            [sys.executable, __file__, "--worker", "--bench", pattern], env={**os.environ, "PYTHONPATH": paths}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    try:
        titles = [worker.stdout.readline().rstrip("\n").split("\t") for worker in workers][1]
        found = {title: ([], []) for title in titles if title}
        for turn in range(rounds + 1):  # the first warms up
            for title, times in found.items():
                for worker, own in zip(workers, times, strict=True):
                    print(title, file=worker.stdin, flush=True)
                    taken = float(worker.stdout.readline())
                    own.extend([taken] if turn else [])
        return found
    finally:
        for worker in workers:
            worker.stdin.close()
            worker.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", nargs="?", help="the other checkout")
    parser.add_argument("--bench", default="Calls|RowLength|Classes", help="a regular expression that finds benchmarks")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        work(args.bench)
        return
    if args.before is None or not Path(args.before, "src", "onlinecls").is_dir():
        parser.error("the other checkout is missing")
    print("| ms | before | after | ratio | wins |", "|---|---:|---:|---:|---:|", sep="\n")
    ratios = []
    for title, (before, after) in in_turns((args.before, ROOT), args.bench, args.rounds).items():
        ratios.append(statistics.median(b / a for a, b in zip(before, after, strict=True)))
        wins = sum(b < a for a, b in zip(before, after, strict=True))
        medians = (f"{1e3 * statistics.median(times):.3g}" for times in (before, after))
        print(f"| {title} | {' | '.join(medians)} | {ratios[-1]:.2f} | {wins} of {len(before)} |", flush=True)
    known = [ratio for ratio in ratios if ratio == ratio]
    print(f"\nGeometric mean of {len(known)} ratios: {statistics.geometric_mean(known):.3f}" if known else "\nNothing was found.")


if __name__ == "__main__":
    main()
