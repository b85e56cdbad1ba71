"""The experiments and theorems of the four papers, anew: figures and numbers in reproduced/, and docs/reproduction.md.

    python examples/reproduce [--full | --smoke] [--write | --page]

Two scripts run at a time. --full: the papers' repetitions, and ten folds of Table 1's texts instead of three. --smoke: each
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
SCRIPTS = sorted(path.stem for path in HERE.glob("[!_]*.py") if path.stem != "common")
VERDICTS = {  # of one sentence, of several
    "holds": "hold", "holds on some readings": "hold on some readings", "does not hold": "do not hold",
    "slip": "are slips of the papers, which hold in the form given", "notation": "hold as they are meant, while the notation or "
    "wording says something else", "undecided": "cannot be decided by the extracted texts, and hold as in other places"}
KINDS = {"experiment": "Experiments", "theorem": "Theorems", "elsewhere": "Theorems from elsewhere"}
LONGEST = 160  # characters of what was found in one reading
PAGE = """# The papers' experiments, repeated

What the four papers say of their algorithms, sentence by sentence, and what this library's learners do. Sentences are numbered as
they come, A those of the AROW paper and N those of the NAROW paper; words in square brackets are added here. A sentence that can
be read or measured in more than one way holds only if it holds on all of these readings, of which one that holds and one that
does not are told, where they are long in part. `make reproduce` runs all of it and writes figures and all numbers to
`reproduced/`, from which it makes this page and its pictures. Real data are read from `../shared/data` or the directory that
`ONLINECLS_DATA` names; what is missing is left out.

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


def short(found):
    """Return as many of the parts of what was found as LONGEST characters hold."""
    parts = found.split("; ")
    while len(parts) > 1 and len("; ".join(parts)) > LONGEST:
        parts.pop()
    return "; ".join(parts)


def told(one):
    """Return the row of a sentence: its number, the paper's words, what was found, and the verdict."""
    ways = [[way for way in one["readings"] if way["held"] == held] for held in (True, False)]
    found, n = [], len(one["readings"]) if one["kind"] == "experiment" else 1
    for these, word in zip(ways, ("", "not "), strict=True):
        if these:
            many = f"{word}on {'all' if len(these) == n else f'{len(these)} of'} {n} readings, such as " if n > 1 else ""
            found.append(many + (f"{these[0]['name']}: " if these[0]["name"] else "") + short(these[0]["found"]))
    cells = [one["number"], one["says"], ". ".join(found[::-1] if one["verdict"] == "slip" else found), f"**{one['verdict']}**"]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def part(name, script):
    """Return the lines of a script's part of the page: remarks, and a row for each sentence."""
    remarks = [*script["remarks"], *([f"skipped: {script['skipped']}"] if script["skipped"] else [])]
    table = ["", "| | the paper says | found here | verdict |", "|---|---|---|---|", *map(told, script["sentences"])]
    return [f"## {script['source'][0].upper()}{script['source'][1:]}", "", f"`examples/reproduce/{name}.py`", "",
            *(f"- {remark[0].upper()}{remark[1:]}." for remark in remarks), *(table if script["sentences"] else []), ""]


def counted(sentences):
    """Return how many sentences there are and how many have each verdict, in words."""
    found = {verdict: sum(one["verdict"] == verdict for one in sentences) for verdict in VERDICTS}
    return f"{len(sentences)} sentences: " + ", ".join(f"{n} {VERDICTS[verdict]}" for verdict, n in found.items() if n)


def page():
    """Write docs/reproduction.md from the numbers, and copy the pictures that docs show."""
    scripts = {name: json.loads((OUT / f"{name}.json").read_text(encoding="utf-8"))
               for name in SCRIPTS if (OUT / f"{name}.json").exists()}
    sentences = [one for script in scripts.values() for one in script["sentences"]]
    kinds = {several: [one for one in sentences if one["kind"] == kind] for kind, several in KINDS.items()}
    summary = [f"{several}, {counted(of)}" for several, of in kinds.items() if of]
    lines = [line for name, script in scripts.items() for line in part(name, script)]
    text = PAGE + "".join(f"- {line}.\n" for line in summary) + "\n" + "\n".join(lines).rstrip() + "\n"
    (ROOT / "docs" / "reproduction.md").write_text(text, encoding="utf-8")
    for name, shown in PICTURES.items():
        if (OUT / f"{name}.png").exists():
            shutil.copyfile(OUT / f"{name}.png", ROOT / "docs" / f"{shown}.png")
    print("docs/reproduction.md", *summary, sep="\n")


if __name__ == "__main__":
    begun = time.perf_counter()
    if "--page" not in sys.argv:
        run([option for option in ("--full", "--smoke") if option in sys.argv])
        print(f"all: {time.perf_counter() - begun:.0f} s")
    if "--write" in sys.argv or "--page" in sys.argv:
        page()
