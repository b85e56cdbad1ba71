"""The experiments and theorems of the four papers, anew: figures and numbers in reproduced/, and docs/reproduction.md.

    python examples/reproduce [--full | --smoke] [--write]

Two scripts run at a time. --full: the papers' repetitions and folds. --smoke: each script on as little as shows that it runs, in
reproduced/smoke. --write: the page and its pictures too. Data are read from ONLINECLS_DATA, or ../shared/data; what is not there
is left out, with a word.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT, OUT = HERE.parents[1], HERE.parents[1] / "reproduced"
SCRIPTS = sorted(path.stem for path in HERE.glob("[!_]*.py") if path.stem != "common")
PICTURES = {  # of a script: its name, that of docs, and what it shows
    "arow_curves": ("arow_figure_2b", "noise", "Mistakes of five learners on the digits 3 and 5, without and with noise"),
    "narow_orders": ("narow_figure_3", "orders", "Four orderings of the same rows, and the mistakes of four learners along them"),
}
KINDS = {"experiment": "Experiments", "theorem": "Theorems", "elsewhere": "Theorems from elsewhere"}
VERDICTS = {"holds": "hold", "holds on some readings": "hold on some readings", "does not hold": "do not hold",
            "slip": "are slips of the papers", "notation": "of notation or wording", "omission": "an omission",
            "undecided": "that the extracted texts cannot decide"}
PAGE = """# The papers' experiments, repeated

Do the four papers' algorithms, as this library implements them, do what the papers say? Here are their sentences, in their order,
and what was found. A are those of the AROW paper, N those of the NAROW paper; words in square brackets are added. A sentence that
can be read or measured in two ways holds only if it holds in both; "not NAME:" begins a reading under which it does not. A *slip*
is false as printed and holds in the form given; an *omission*, or a slip of *notation*, holds as it is meant; *undecided*: the
text cannot tell. `make reproduce` runs everything and writes this page; its data are in `../shared/data`, or `ONLINECLS_DATA`.

"""


def run(name):
    """Run a script."""
    begun, options = time.perf_counter(), [option for option in ("--full", "--smoke") if option in sys.argv]
    command = [sys.executable, "-W", "ignore::UserWarning", str(HERE / f"{name}.py"), *options]
    done = subprocess.run(command, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    print(f"-- {name}: {time.perf_counter() - begun:.0f} s", flush=True)
    if done.returncode:
        raise RuntimeError(f"{name}.py failed")


def told(one):
    """Return the row of a sentence: number, the paper's words, a reading that does not hold and one that does, the verdict."""
    ways = [way for held in (False, True) for way in [one for one in one["readings"] if one["held"] == held][:1]]
    found = [f"{'' if way['held'] or one['verdict'] == 'slip' else 'not '}{way['name']}: {way['found']}" for way in ways]
    cells = [one["number"], one["says"], ". ".join(text.removeprefix(": ") for text in found), f"**{one['verdict']}**"]
    return "|" + "|".join(cell.replace("|", "\\|") for cell in cells) + "|"


def part(name, script):
    """Yield the lines of a script's part of the page."""
    yield from (f"## {script['source'][0].upper()}{script['source'][1:]}", "", f"`examples/reproduce/{name}.py`", "")
    yield from (f"- {remark[0].upper()}{remark[1:]}." for remark in script["remarks"])
    yield from ("", "||the paper says|found here||", "|---|---|---|---|", *map(told, script["sentences"]), "")
    drawn, shown, words = PICTURES.get(name, ("", "", ""))
    if (OUT / f"{drawn}.png").exists():
        shutil.copyfile(OUT / f"{drawn}.png", ROOT / "docs" / f"{shown}.png")
        yield from (f"![{words}]({shown}.png)", "")


def page():
    """Write docs/reproduction.md from the numbers, with its pictures."""
    scripts = {name: json.loads((OUT / f"{name}.json").read_text(encoding="utf-8"))
               for name in SCRIPTS if (OUT / f"{name}.json").exists()}
    sentences, lines = [one for script in scripts.values() for one in script["sentences"]], []
    for kind, several in KINDS.items():
        verdicts = [one["verdict"] for one in sentences if one["kind"] == kind]
        counts = (f"{verdicts.count(verdict)} {words}" for verdict, words in VERDICTS.items() if verdict in verdicts)
        lines.append(f"- {several}, {len(verdicts)} sentences: {', '.join(counts)}.")
    print("docs/reproduction.md", *lines, sep="\n")
    lines += ["", *(line for name, script in scripts.items() for line in part(name, script))]
    (ROOT / "docs" / "reproduction.md").write_text(PAGE + "\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    with ThreadPoolExecutor(2) as two:
        list(two.map(run, SCRIPTS))
    if "--write" in sys.argv:
        page()
