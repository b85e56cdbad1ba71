"""The experiments and theorems of the four papers, anew: figures and numbers in reproduced/, and docs/reproduction.md.

    python examples/reproduce [--full | --smoke] [--write | --page]

Two scripts run at a time. --full: the papers' repetitions, and all tasks of Table 1 that there are data for. --smoke: each
script on as little as shows that it runs, in reproduced/smoke. --write: the page and its pictures too; --page: those alone, from
the numbers. Data are read from ONLINECLS_DATA, or ../shared/data; what is not there is left out, with a word.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "reproduced"
PICTURES = {"narow_figure_3": "orders", "arow_figure_2b": "noise"}  # what docs show, by their names there
SCRIPTS = ("arow_table", "arow_curves", "narow_orders", "regret", "certificates", "narow_words", "mail", "pa_bounds")
PAGE = """# The papers' experiments, repeated

What the four papers claim of their algorithms, and what this library's learners do. Each statement is a claim of the paper, and
"found here" is what the run showed; where a claim does not hold, the last column says why, with numbers of the same script.
Theorems are counted separately, since a theorem holds on every stream unless the code is wrong.

`make reproduce` runs all of it and writes figures and numbers to `reproduced/`, from which `python examples/reproduce --write`
makes this page and its pictures. Real data are read from `../shared/data` or the directory that `ONLINECLS_DATA` names; what is
missing is left out.

"""


def run(options):
    """Run all scripts, two at a time; return the seconds of each."""
    waiting, running, seconds = list(SCRIPTS), {}, {}
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    while waiting or running:
        while waiting and len(running) < 2:
            name = waiting.pop(0)
            command = [sys.executable, str(HERE / f"{name}.py"), *options]
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


def table(name, told):
    """Return the lines of a script's part of the page."""
    lines = [f"## {told['source'][0].upper()}{told['source'][1:]}", "", f"`examples/reproduce/{name}.py`", ""]
    for remark in told["remarks"]:
        lines.append(f"- {remark[0].upper()}{remark[1:]}.")
    if told["skipped"]:
        lines.append(f"- Skipped: {told['skipped']}.")
    if lines[-1]:
        lines.append("")
    if told["claims"]:
        lines += ["| the paper says | found here | held | why not |", "|---|---|---|---|"]
    for one in told["claims"]:
        cells = [one["claim"], one["found"], "yes" if one["held"] else "**no**", one["why"]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return [*lines, ""]


def page():
    """Write docs/reproduction.md from the numbers, and copy the pictures that docs show."""
    told = {name: json.loads((OUT / f"{name}.json").read_text(encoding="utf-8"))
            for name in sorted(SCRIPTS) if (OUT / f"{name}.json").exists()}
    claims = [one for script in told.values() for one in script["claims"]]
    counts = {kind: [one["held"] for one in claims if one["kind"] == kind] for kind in ("experiment", "theorem")}
    summary = "; ".join(f"{kind}s: {sum(held)} of {len(held)}" for kind, held in counts.items()).capitalize()
    lines = [line for name, script in told.items() for line in table(name, script)]
    text = PAGE + f"**Claims that hold. {summary}.**\n\n" + "\n".join(lines).rstrip() + "\n"
    (ROOT / "docs" / "reproduction.md").write_text(text, encoding="utf-8")
    for name, shown in PICTURES.items():
        if (OUT / f"{name}.png").exists():
            shutil.copyfile(OUT / f"{name}.png", ROOT / "docs" / f"{shown}.png")
    print(f"docs/reproduction.md: {summary}")


if __name__ == "__main__":
    begun = time.perf_counter()
    if "--page" not in sys.argv:
        run([option for option in ("--full", "--smoke") if option in sys.argv])
        print(f"all: {time.perf_counter() - begun:.0f} s")
    if "--write" in sys.argv or "--page" in sys.argv:
        page()
