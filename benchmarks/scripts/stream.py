"""From bytes to a model in whole processes: `onlinecls train` beside Vowpal Wabbit's driver; and how time and memory grow.

    python benchmarks/scripts/stream.py [--copies 2] [--rounds 5] [--write]
    python benchmarks/scripts/stream.py --grow 100 500 1000 [--rounds 5] [--write]

imdb-train and imdb-test (65 MB of label<TAB>text), `copies` times over, are written to a temporary directory, uncompressed, and
for VW in its format: the same texts with ':' and '|', which mean something else there, as blanks; and a second time as the
words that ours finds in them, lower-cased, so that VW has nothing to do but hash. The contestants run in turns, each as a
process of its own; wall clock and peak memory are the operating system's. VW has no program in its Python package: its driver
runs in a Python process, and the time of a process that only imports it is taken off. Ours is the whole process, Python's start
and all imports included. One copy and all copies are timed; mistakes are those of one copy: a learner knows the others.

--grow measures `onlinecls train` on files of so many megabytes, and fits seconds = a + b megabytes to the best of the rounds.
--write puts what was measured into docs/scale.md.
"""

import corpora  # isort: skip

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from pages import show, table

VW = """
import sys
from vowpalwabbit import Workspace
learner = Workspace(sys.argv[1])
print('{"mistakes": %d}' % learner.get_sum_loss())
learner.finish()
"""
# Runs a command and says (seconds, peak MB, CPU seconds, what it printed): a small process of its own, because Linux counts the
# parent's memory at the start of a child as the child's.
LAUNCH = """
import json, os, sys, tempfile, time
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # (an installed package is compiled)
with tempfile.TemporaryFile() as output:
    start = time.perf_counter()
    pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, output.fileno(), 1)])
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - start
    output.seek(0)
    print(json.dumps([seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime, output.read().decode()]))
    sys.exit(os.waitstatus_to_exitcode(status))
"""
WORD = re.compile(r"\w\w+")
N_ROWS = 50_000  # of one copy


def run(command):
    done = subprocess.run([sys.executable, "-S", "-c", LAUNCH, *command], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def lines():
    """Yield the lines of the corpus in three formats: (tsv, VW, VW of words)."""
    for name in ("imdb-train", "imdb-test"):
        for label, text in zip(*corpora.texts(name), strict=True):
            sign, raw = corpora.SIGNS[label], text.translate({58: " ", 124: " "})
            yield f"{label}\t{text}\n", f"{sign} | {raw}\n", f"{sign} | {' '.join(WORD.findall(text.lower()))}\n"


def write(folder, copies):
    """Write files of one copy and of all copies: (one, all) of each format."""
    found = []
    for name, text in zip(("imdb.tsv", "imdb.vw", "words.vw"), map("".join, zip(*lines(), strict=True)), strict=True):
        found.append((folder / f"one-{name}", folder / name))
        for path, n in zip(found[-1], (1, copies), strict=True):
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                for _ in range(n):
                    file.write(text)
    return found


def ours(path, algorithm="arow"):
    return [sys.executable, "-m", "onlinecls", "train", str(path), "--algorithm", algorithm, "--quiet", "--json"]


def vw(path, loss):
    return [sys.executable, "-c", VW, f"-b 20 --no_stdin --quiet --binary --loss_function {loss} -d {path}"]


def race(folder, copies, rounds):
    """Run the contestants in turns on one copy and on all, and format what they took."""
    tsv, raw, words = write(folder, copies)
    contestants = {  # title: (files, command for a file)
        "onlinecls train, AROW": (tsv, ours),
        "onlinecls train, PA-I": (tsv, lambda path: ours(path, "pa1")),
        "VW, hinge": (raw, lambda path: vw(path, "hinge")),
        "VW, logistic": (raw, lambda path: vw(path, "logistic")),
        "VW, hinge, words made ready": (words, lambda path: vw(path, "hinge")),
    }
    (few := folder / "few.tsv").write_text("a\tone word\nb\tanother word\n")
    idle = {"vw": [sys.executable, "-c", "import vowpalwabbit"], "ours": ours(few)}
    runs = {(name, path): command(path) for name, (files, command) in contestants.items() for path in files}
    starts, outcomes = {name: [] for name in idle}, {key: [] for key in runs}
    for _ in range(rounds):
        for name, command in idle.items():
            starts[name].append(run(command)[0])
        for key, command in runs.items():
            outcomes[key].append(run(command))
    starts = {name: statistics.median(taken) for name, taken in starts.items()}
    rows, notes = [], []
    for which in range(2):
        wall, cpu = {}, {}
        for name, (files, _) in contestants.items():
            taken, memory, used, _ = zip(*outcomes[name, files[which]], strict=True)
            wall[name] = statistics.median(taken) - (starts["vw"] if name.startswith("VW") else 0.0)
            cpu[name], size = statistics.median(used), files[which].stat().st_size / 1e6
            mistakes = json.loads(outcomes[name, files[0]][0][3])["mistakes"] / N_ROWS
            rows.append((name, f"{size:.0f}", f"{wall[name]:.2f}", f"{size / wall[name]:.0f}", f"{cpu[name]:.2f}",
                         f"{max(memory):.0f}", f"{100 * mistakes:.2f} %"))
        faster, less = (min(each["VW, hinge"], each["VW, logistic"]) / each["onlinecls train, AROW"] for each in (wall, cpu))
        notes.append(f"On {tsv[which].stat().st_size / 1e6:.0f} MB AROW took 1/{faster:.1f} of the wall clock and 1/{less:.1f} "
                     "of the CPU time of the faster of VW's runs on the same text.")
    notes.append(f"A file of two lines takes ours {starts['ours']:.2f} s, which is in its times. The import of VW's package, "
                 f"{starts['vw']:.2f} s, is taken off its wall clock.")
    return "\n".join([table(("", "MB", "s", "MB/s", "CPU s", "peak MB", "mistakes"), rows), "", *notes])


def grow(folder, sizes, rounds):
    """Measure seconds and memory by the size of the file, and format them and the lines through them."""
    text, found = "".join(tsv for tsv, _, _ in lines()).encode(), []
    for megabytes in sizes:
        path = folder / "grown.tsv"
        with open(path, "wb") as file:
            copies, rest = divmod(megabytes * 10**6, len(text))
            for _ in range(copies):
                file.write(text)
            file.write(text[: text.rfind(b"\n", 0, rest) + 1])
        taken, peak, cpu, _ = zip(*(run(ours(path)) for _ in range(rounds)), strict=True)
        found.append((path.stat().st_size / 1e6, min(taken), min(cpu), max(peak)))
        print(*found[-1], file=sys.stderr, flush=True)
    rows = []
    for title, column in (("CPU", 2), ("wall clock", 1)):
        slope, start = np.polyfit([each[0] for each in found], [each[column] for each in found], 1)
        rows.append((title, f"{start:.2f} s + 1 s for each {1 / slope:.0f} MB", f"{(start + slope * 1e5) / 60:.1f} minutes"))
    rows.append(("memory", "flat", f"{max(each[3] for each in found):.0f} MB"))
    measured = ((f"{size:.0f}", f"{taken:.2f}", f"{cpu:.2f}", f"{peak:.0f}") for size, taken, cpu, peak in found)
    return "\n\n".join([table(("MB", "seconds", "CPU seconds", "peak resident MB"), measured, left=0),
                        table(("", "line through them", "100 GB"), rows, left=3)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--grow", type=int, nargs="+", metavar="MB")
    parser.add_argument("--write", action="store_true", help="put what was measured into docs/scale.md")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.grow:
            show(args.write, "scale.md", "growth", grow(Path(folder), args.grow, args.rounds))
        else:
            show(args.write, "scale.md", "race", race(Path(folder), args.copies, args.rounds))


if __name__ == "__main__":
    main()
