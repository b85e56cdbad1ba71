"""From bytes to a model in whole processes: `onlinecls train` beside Vowpal Wabbit's driver; and how time and memory grow.

    python benchmarks/stream.py [--copies 2] [--rounds 5] [--grow 100 200 400] [--json FILE] [--write]

imdb-train and imdb-test (65 MB of label<TAB>text), `copies` times over, are written to a temporary directory, uncompressed, and
for VW in its format: the same texts with ':' and '|', which mean something else there, as blanks; and a second time as the
words that ours finds in them, lower-cased, so that VW has nothing to do but hash. The contestants run in turns, each as a
process of its own; wall clock and peak memory are the operating system's. VW has no program in its Python package: its driver
runs in a Python process, and the time of a process that only imports it is taken off. Ours is the whole process, Python's start
and all imports included. One copy and all copies are timed; mistakes are those of one copy: a learner knows the others.

--grow measures `onlinecls train` on files of so many megabytes, and fits seconds = a + b megabytes to the best of the rounds.
--write puts what was measured into docs/scale.md.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import corpora
import numpy as np
from pages import table, write_between_if

VW = """
import sys
from vowpalwabbit import Workspace
learner = Workspace(sys.argv[1])
print('{"mistakes": %d}' % learner.get_sum_loss())
learner.finish()
"""
WORD = re.compile(r"\w\w+")


# Runs a command and says (seconds, peak MB, CPU seconds, what it printed): a small process of its own, because Linux counts the
# parent's memory at the start of a child as the child's.
LAUNCH = """
import json, os, sys, tempfile, time
with tempfile.TemporaryFile() as output:
    start = time.perf_counter()
    pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), 1)])
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - start
    output.seek(0)
    print(json.dumps([seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime, output.read().decode()]))
    sys.exit(os.waitstatus_to_exitcode(status))
"""


def run(command):
    done = subprocess.run([sys.executable, "-S", "-c", LAUNCH, *command], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def lines():
    """Return the corpus in three formats: (tsv, VW, VW of words)."""
    for name in ("imdb-train", "imdb-test"):
        for label, text in zip(*corpora._read_text(corpora._require(name)), strict=True):
            sign = corpora.SIGNS[label]
            raw, words = text.translate({58: " ", 124: " "}), " ".join(WORD.findall(text.lower()))
            yield f"{label}\t{text}\n", f"{sign} | {raw}\n", f"{sign} | {words}\n"


def write(folder, copies):
    """Write files of one copy and of all copies: (one, all) of each format."""
    found = []
    for name, text in zip(("imdb.tsv", "imdb.vw", "words.vw"), map("".join, zip(*lines(), strict=True)), strict=True):
        for path, n in ((folder / f"one-{name}", 1), (folder / name, copies)):
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                for _ in range(n):
                    file.write(text)
        found.append((folder / f"one-{name}", folder / name))
    return found


def ours(path, algorithm):
    return [sys.executable, "-m", "onlinecls", "train", str(path), "--algorithm", algorithm, "--quiet", "--json"]


def vw(path, loss):
    return [sys.executable, "-c", VW, f"-b 20 --no_stdin --quiet --binary --loss_function {loss} -d {path}"]


def race(folder, copies, rounds):
    """Run the contestants in turns on one copy and on all: (results of each, median seconds of the starts)."""
    tsv, raw, words = write(folder, copies)
    contestants = {  # title: (files, command for a file)
        "onlinecls train, AROW": (tsv, lambda path: ours(path, "arow")),
        "onlinecls train, PA-I": (tsv, lambda path: ours(path, "pa1")),
        "VW, hinge": (raw, lambda path: vw(path, "hinge")),
        "VW, logistic": (raw, lambda path: vw(path, "logistic")),
        "VW, hinge, words made ready": (words, lambda path: vw(path, "hinge")),
    }
    nothing = folder / "nothing.tsv"
    nothing.write_text("a\tone word\nb\tanother word\n")
    idle = {
        "vw": [sys.executable, "-c", "import vowpalwabbit"], "numpy": [sys.executable, "-c", "import numpy"],
        "ours": ours(nothing, "arow"),
    }
    runs = {(name, path): command(path) for name, (files, command) in contestants.items() for path in files}
    starts, outcomes = {name: [] for name in idle}, {key: [] for key in runs}
    for _ in range(rounds):
        for name, command in idle.items():
            starts[name].append(run(command)[0])
        for key, command in runs.items():
            outcomes[key].append(run(command))
    starts = {name: statistics.median(seconds) for name, seconds in starts.items()}
    results = []
    for which in range(2):
        for name, (files, _) in contestants.items():
            seconds, memory, cpu, _ = zip(*outcomes[name, files[which]], strict=True)
            size, taken = files[which].stat().st_size / 1e6, statistics.median(seconds)
            taken -= starts["vw"] if name.startswith("VW") else 0.0
            results.append({
                "name": name, "MB": size, "seconds": taken, "MB/s": size / taken, "cpu": statistics.median(cpu),
                "peak MB": max(memory), "mistakes": json.loads(outcomes[name, files[0]][0][3])["mistakes"] / 50_000,
            })
    return results, starts


def grow(folder, sizes, rounds):
    """Measure seconds and memory by the size of the file, and fit a line."""
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
        seconds, peak, cpu, _ = zip(*outcomes, strict=True)
        size = path.stat().st_size / 1e6
        points.append({"MB": size, "seconds": min(seconds), "CPU s": min(cpu), "peak MB": max(peak)})
        path.unlink()
        print(points[-1], file=sys.stderr, flush=True)
    return points, {kind: np.polyfit([p["MB"] for p in points], [p[kind] for p in points], 1) for kind in ("seconds", "CPU s")}


def race_text(results, starts):
    """Format the contestants as a table, and AROW beside the faster of VW's runs on the same text."""
    rows = ((r["name"], f"{r['MB']:.0f}", f"{r['seconds']:.2f}", f"{r['MB/s']:.0f}", f"{r['cpu']:.2f}", f"{r['peak MB']:.0f}",
             f"{100 * r['mistakes']:.2f} %") for r in results)
    lines = [table(("", "MB", "s", "MB/s", "CPU s", "peak MB", "mistakes"), rows), ""]
    for group in (results[: len(results) // 2], results[len(results) // 2 :]):
        ours, others = group[0], [r for r in group if r["name"] in ("VW, hinge", "VW, logistic")]
        wall, cpu = (min(r[kind] for r in others) / ours[kind] for kind in ("seconds", "cpu"))
        lines.append(f"On {ours['MB']:.0f} MB AROW took 1/{wall:.1f} of the wall clock and 1/{cpu:.1f} of the CPU time of the "
                     "faster of VW's runs on the same text.")
    return "\n".join([
        *lines,
        f"Start alone, of a file of two lines: {starts['ours']:.2f} s, in its times; {starts['numpy']:.2f} s of it are Python's "
        f"start and numpy's import. The import of VW's package, {starts['vw']:.2f} s, is taken off its wall clock.",
    ])


def growth_text(points, fits):
    """Format time and memory by size as a table, and the fitted lines."""
    measured = ((f"{p['MB']:.0f}", f"{p['seconds']:.2f}", f"{p['CPU s']:.2f}", f"{p['peak MB']:.0f}") for p in points)
    rows = []
    for kind, title in (("CPU s", "CPU"), ("seconds", "wall clock")):
        slope, start = fits[kind]
        minutes = (start + slope * 1e5) / 60
        rows.append((title, f"{start:.2f} s + 1 s for each {1 / slope:.0f} MB", f"{minutes:.1f} minutes"))
    rows.append(("memory", "flat", f"{max(p['peak MB'] for p in points):.0f} MB"))
    return "\n\n".join([table(("MB", "seconds", "CPU seconds", "peak resident MB"), measured, left=0),
                        table(("", "line through them", "100 GB"), rows, left=3)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--grow", type=int, nargs="*", default=[])
    parser.add_argument("--no-race", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--write", action="store_true", help="put what was measured into docs/scale.md")
    args, report = parser.parse_args(), {}
    with tempfile.TemporaryDirectory() as folder:
        if not args.no_race:
            results, starts = race(Path(folder), args.copies, args.rounds)
            report.update(race=results, start=starts)
            write_between_if(args.write, "scale.md", "race", race_text(results, starts))
        if args.grow:
            points, fits = grow(Path(folder), args.grow, args.rounds)
            report["grow"] = {"points": points, "fits": {kind: list(fit) for kind, fit in fits.items()}}
            write_between_if(args.write, "scale.md", "growth", growth_text(points, fits))
    if args.json:
        args.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
