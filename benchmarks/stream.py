"""The way from bytes to a model, whole processes: `onlinecls train` beside Vowpal Wabbit's driver; and how time and memory grow.

    python benchmarks/stream.py [--copies 2] [--rounds 5] [--grow 100 200 400] [--json FILE]

imdb-train and imdb-test (65 MB of label<TAB>text), `copies` times over, are written to a temporary directory, uncompressed, and for VW
in its format: the same texts with ':' and '|', which mean something else there, as blanks; and a second time as the words that
ours finds in them, lower-cased, so that VW has nothing to do but hash. The contestants run in turns, each as a process of its own;
wall clock and peak memory are the operating system's. VW has no program in its Python package: its driver runs in a Python process, and the
time of a process that only imports it is taken off. Ours is the whole process, Python's start and all imports included.

--grow measures `onlinecls train` on files of so many megabytes, and fits seconds = a + b megabytes.
"""

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import corpora
import numpy as np

VW = """
import sys
from vowpalwabbit import Workspace
learner = Workspace(sys.argv[1])
print('{"mistakes": %d}' % learner.get_sum_loss())
learner.finish()
"""
WORD = re.compile(r"\w\w+")


def run(command):
    """(seconds, peak MB, CPU seconds, what it printed) of a process."""
    with tempfile.TemporaryFile() as output:
        start = perf_counter()
        pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), 1)])
        _, status, usage = os.wait4(pid, 0)
        seconds = perf_counter() - start
        output.seek(0)
        if status:
            raise SystemExit(f"{command} ended with {os.waitstatus_to_exitcode(status)}")
        return seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime, output.read().decode()


def lines():
    """The corpus, three ways: (tsv, VW, VW of words)."""
    for name in ("imdb-train", "imdb-test"):
        for label, text in zip(*corpora._read_text(corpora._require(name)), strict=True):
            sign = corpora.SIGNS[label]
            yield f"{label}\t{text}\n", f"{sign} | {text.translate({58: ' ', 124: ' '})}\n", f"{sign} | {' '.join(WORD.findall(text.lower()))}\n"


def write(folder, copies):
    paths = [folder / name for name in ("imdb.tsv", "imdb.vw", "words.vw")]
    for path, text in zip(paths, map("".join, zip(*lines(), strict=True)), strict=True):
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            for _ in range(copies):
                file.write(text)
    return paths


def ours(path, algorithm):
    return [sys.executable, "-m", "onlinecls", "train", str(path), "--algorithm", algorithm, "--quiet", "--json"]


def race(folder, copies, rounds):
    tsv, raw, words = write(folder, copies)
    vw = "-b 20 --no_stdin --quiet --binary --loss_function hinge -d"
    contestants = {f"onlinecls train, {name}": (ours(tsv, name), tsv) for name in ("arow", "pa1")}
    for title, path, options in (
        ("VW, hinge", raw, ""), ("VW, logistic", raw, "--loss_function logistic"), ("VW, hinge, words", words, ""),
    ):  # fmt: skip
        command = vw.replace("--loss_function hinge", options) if options else vw
        contestants[title] = ([sys.executable, "-c", VW, f"{command} {path}"], path)
    idle = {"vw": [sys.executable, "-c", "import vowpalwabbit"], "ours": [sys.executable, "-m", "onlinecls", "--version"]}
    found, starts = {name: [] for name in contestants}, {name: [] for name in idle}
    for round in range(rounds + 1):  # the first one fills the page cache
        for name, command in idle.items():
            starts[name].append(run(command)[0])
        for name, (command, _) in contestants.items():
            outcome = run(command)
            if round:
                found[name].append(outcome)
    imports = {name: statistics.median(seconds) for name, seconds in starts.items()}
    rows = copies * 50_000
    results = []
    for name, outcomes in found.items():
        seconds = statistics.median(outcome[0] for outcome in outcomes) - (imports["vw"] if name.startswith("VW") else 0.0)
        size = contestants[name][1].stat().st_size
        results.append({
            "name": name, "seconds": seconds, "MB/s": size / 1e6 / seconds, "rows/s": rows / seconds,
            "cpu": statistics.median(outcome[2] for outcome in outcomes), "peak MB": max(outcome[1] for outcome in outcomes),
            "mistakes": json.loads(outcomes[0][3])["mistakes"] / rows, "MB": size / 1e6,
        })  # fmt: skip
    return results, imports


def grow(folder, sizes, rounds):
    """Seconds and memory by the size of the file, and the line through them."""
    text = "".join(tsv for tsv, _, _ in lines()).encode()
    points = []
    for megabytes in sizes:
        path = folder / "grown.tsv"
        with open(path, "wb") as file:
            copies, rest = divmod(megabytes * 10**6, len(text))
            for _ in range(copies):
                file.write(text)
            file.write(text[: text.rfind(b"\n", 0, rest) + 1])
        outcomes = [run(ours(path, "arow")) for _ in range(rounds)]
        seconds, peak = statistics.median(o[0] for o in outcomes), max(o[1] for o in outcomes)
        points.append({"MB": path.stat().st_size / 1e6, "seconds": seconds, "peak MB": peak})
        path.unlink()
        print(points[-1], file=sys.stderr, flush=True)
    slope, start = np.polyfit([p["MB"] for p in points], [p["seconds"] for p in points], 1)
    return points, start, slope


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--grow", type=int, nargs="*", default=[])
    parser.add_argument("--no-race", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    report = {}
    with tempfile.TemporaryDirectory() as folder:
        if not options.no_race:
            results, imports = race(Path(folder), options.copies, options.rounds)
            report.update(race=results, start=imports)
            print(f"start alone: onlinecls {imports['ours']:.2f} s (in its times), VW {imports['vw']:.2f} s (taken off)\n")
            print("| | MB | s | MB/s | rows/s | CPU s | peak MB | mistakes | against the slowest VW |\n|---|---|---|---|---|---|---|---|---|")
            slowest = max(r["seconds"] for r in results if r["name"].startswith("VW"))
            for r in results:
                print(f"| {r['name']} | {r['MB']:.0f} | {r['seconds']:.2f} | {r['MB/s']:.0f} | {r['rows/s']:,.0f} | {r['cpu']:.2f} | "
                      f"{r['peak MB']:.0f} | {100 * r['mistakes']:.2f} % | {slowest / r['seconds']:.1f}x |")  # fmt: skip
        if options.grow:
            points, start, slope = grow(Path(folder), options.grow, options.rounds)
            report["grow"] = {"points": points, "start": start, "seconds_per_MB": slope}
            print("\n| MB | s | peak MB |\n|---|---|---|")
            for p in points:
                print(f"| {p['MB']:.0f} | {p['seconds']:.2f} | {p['peak MB']:.0f} |")
            hours = (start + slope * 1e5) / 60
            print(f"\nseconds = {start:.2f} + MB / {1 / slope:.0f}; 100 GB: {hours:.0f} minutes")
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
