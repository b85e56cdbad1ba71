"""Time of `onlinecls predict MODEL -` to answer a line that comes through a pipe.

    PYTHONPATH=benchmarks python -m studies.latency [--lines 200]
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def answers(n: int) -> list[float]:
    """Measure the seconds from writing each line to its prediction, with pauses of 20 ms."""
    command = [sys.executable, "-m", "onlinecls"]
    with tempfile.TemporaryDirectory() as folder:
        data, model = Path(folder, "mail.tsv"), Path(folder, "mail.model")
        data.write_text("ham\tlunch at noon\nspam\twin a free prize\n" * 100)
        subprocess.run([*command, "train", data, "--save", model, "--quiet"], check=True)
        pipe = subprocess.PIPE
        with subprocess.Popen([*command, "predict", model, "-"], stdin=pipe, stdout=pipe) as running:
            found = []
            for k in range(n + 1):
                time.sleep(0.02)
                began = time.perf_counter()
                running.stdin.write(b"win lunch %d\n" % k)
                running.stdin.flush()
                running.stdout.readline()
                found.append(time.perf_counter() - began)
            running.stdin.close()
    return found[1:]  # (the first line waits for the start of Python)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=200)
    found = sorted(answers(parser.parse_args().lines))
    print(f"median {1e3 * statistics.median(found):.1f} ms, 99 % within {1e3 * found[int(0.99 * len(found))]:.1f} ms")


if __name__ == "__main__":
    main()
