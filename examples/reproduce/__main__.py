"""The experiments and theorems of the four papers, anew: figures and numbers in reproduced/, and docs/reproduction.md.

    python examples/reproduce [--full] [--write]

Two scripts run at a time. --full: the papers' repetitions, and Table 1 in full. --write: the page, from the numbers.
Data are read from ONLINECLS_DATA, or ../shared/data; what is not there is left out, with a word.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "reproduced"
SCRIPTS = ("arow_table", "arow_curves", "narow_orders", "regret", "certificates", "narow_words", "mail", "pa_bounds")
PAGE = """# The papers' claims, run again

What the four papers say of their algorithms, beside what this library's learners do: `make reproduce` runs all of it (figures and
numbers go to `reproduced/`, and this page is written from them by `python examples/reproduce --write`; real data come from
`../shared/data` or the directory that `ONLINECLS_DATA` names, and what is not there is left out). Each statement is that of
the paper, each "found" a number of the run; where it did not hold, the last column says why.

"""


def run(full):
    """All scripts, two at a time; returns the seconds of each."""
    waiting, running, seconds = list(SCRIPTS), {}, {}
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    while waiting or running:
        while waiting and len(running) < 2:
            name = waiting.pop(0)
            command = [sys.executable, str(HERE / f"{name}.py"), *(["--full"] if full else [])]
            running[name] = subprocess.Popen(command, env=environment), time.perf_counter()
        for name, (process, begun) in list(running.items()):
            if process.poll() is not None:
                seconds[name] = time.perf_counter() - begun
                del running[name]
                print(f"-- {name}: {seconds[name]:.0f} s", flush=True)
                if process.returncode:
                    sys.exit(f"{name}.py failed")
        time.sleep(0.2)
    return seconds


def page():
    """Write docs/reproduction.md from the numbers."""
    lines, held, n = [], 0, 0
    for name in sorted(SCRIPTS):
        path = OUT / f"{name}.json"
        if not path.exists():
            continue
        told = json.loads(path.read_text(encoding="utf-8"))
        lines += [f"## {told['source'][0].upper()}{told['source'][1:]}", "", f"`examples/reproduce/{name}.py`", ""]
        if told["skipped"]:
            lines += [f"Skipped: {told['skipped']}.", ""]
        if told["claims"]:
            lines += ["| the paper says | found here | held | why not |", "|---|---|---|---|"]
        for one in told["claims"]:
            n, held = n + 1, held + one["held"]
            cells = [one["claim"], one["found"], "yes" if one["held"] else "**no**", one["why"]]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    summary = f"Of {n} statements {held} held.\n\n"
    (ROOT / "docs" / "reproduction.md").write_text(PAGE + summary + "\n".join(lines).rstrip() + "\n", encoding="utf-8")
    print(f"docs/reproduction.md: {held} of {n} statements held")


if __name__ == "__main__":
    begun = time.perf_counter()
    if "--page" not in sys.argv:
        run("--full" in sys.argv)
        print(f"all: {time.perf_counter() - begun:.0f} s")
    if "--write" in sys.argv or "--page" in sys.argv:
        page()
