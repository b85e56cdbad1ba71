"""Processor instructions per row beside scipy's product, counted by valgrind (which must be installed).

    PYTHONPATH=benchmarks python -m studies.instructions [--write]

Counts do not depend on what else the machine does. Rows of two lengths give a line, so much for a row and so much for each of its
non-zeros. Only the compiled loops are counted: scipy's product, and a pass's check of the rows and its kernel. Rows are made-up
words in 2^16 columns; a pass is the mean of the first three. ``--write`` puts the table into docs/speed.md.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.common import stream
from pages import DOCS, write_between

LEARNERS = ("Perceptron", "PassiveAggressiveClassifier", "AROWClassifier")
PRODUCT = "scipy `X @ w`"
LENGTHS, N_ROWS, N_PASSES = (20, 75), 5_000, 3
LOOPS = re.compile(r"^\s*([\d,]+) .*(csr_matvec|learn_vector|check_rows)", re.MULTILINE)


def passes(name, nnz):
    """Run the passes to be counted, over the same rows, in a separate process."""
    import numpy as np

    import onlinecls

    X, y = stream(N_ROWS, nnz, n_features=2**16)
    if name == PRODUCT:
        w = np.ones(X.shape[1], X.dtype)
        for _ in range(N_PASSES):
            X @ w
        return
    learner = getattr(onlinecls, name)()
    for _ in range(N_PASSES):
        learner.partial_fit(X, y, classes=[0, 1])


def counted(name, nnz):
    """Count the instructions per row."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        count = [sys.executable, "-m", "studies.instructions", "--count", name, str(nnz)]
        subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *count], check=True, capture_output=True)
        annotate = ["callgrind_annotate", "--threshold=100", "--auto=no", out]
        told = subprocess.run(annotate, check=True, capture_output=True, text=True).stdout
    return sum(int(n.replace(",", "")) for n, _ in LOOPS.findall(told)) / (N_PASSES * N_ROWS)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put the table into docs/speed.md")
    parser.add_argument("--count", nargs=2, metavar=("NAME", "NNZ"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.count:
        return passes(args.count[0], int(args.count[1]))
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed")
    short, long = LENGTHS
    lines = [f"| instructions | a row of {short} nnz | a row of {long} | fitted |", "|---|---:|---:|---|"]
    for name in (PRODUCT, *LEARNERS):
        a, b = (counted(name, nnz) for nnz in LENGTHS)
        slope = (b - a) / (long - short)
        title = name if name == PRODUCT else f"`{name}`"
        lines.append(f"| {title} | {a:.0f} | {b:.0f} | {a - slope * short:.0f} + {slope:.1f} each |")
        print(lines[-1], flush=True)
    if args.write:
        write_between(DOCS / "speed.md", "instructions", "\n".join(lines))


if __name__ == "__main__":
    main()
