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
VERDICTS = {"holds": "hold", "holds on some readings": "hold on some readings", "only in a mended form": "only in a mended form",
            "does not hold": "do not hold"}  # of one sentence, of several
KINDS = {"experiment": "Experiments", "theorem": "Theorems", "elsewhere": "Theorems from elsewhere"}
PAGE = """# The papers' experiments, repeated

What the four papers say of their algorithms, sentence by sentence, and what this library's learners do. Sentences are numbered as
they come, A those of the AROW paper and N those of the NAROW paper; words in square brackets are added here. A sentence that can
be read or measured in more than one way has a row for each reading below it, and holds only if it holds on all of them. The
panels of a figure that one sentence speaks of are detail, told below the table. Theorems are counted separately, since a theorem
holds on every stream unless the code is wrong, or the theorem: some hold only in a mended form.

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


def rows(head, cells):
    lines = [head, "|" + "---|" * len(cells[0])]
    return [*lines, *("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in cells), ""]


def told_in_order(script):
    """Return the lines of a script's part of the page: remarks, sentences with their readings, and panels not told with these."""
    name, told = script
    lines = [f"## {told['source'][0].upper()}{told['source'][1:]}", "", f"`examples/reproduce/{name}.py`", ""]
    lines += [f"- {remark[0].upper()}{remark[1:]}." for remark in told["remarks"]]
    lines += [f"- Skipped: {told['skipped']}."] if told["skipped"] else []
    sentences, panels = [], []
    for one in told["sentences"]:
        sentences.append((f"**{one['number']}**", f"**{one['says']}**", "", f"**{one['verdict']}**"))
        for way in one["readings"]:
            found = "; ".join(part for part in (way["found"], way["why"]) if part)
            sentences.append(("", way["name"], found, "yes" if way["held"] else "no"))
        said = " ".join(way["found"] for way in one["readings"])
        panels += [(one["number"], panel, found, "yes" if held else "no") for panel, found, held in one["panels"]
                   if found not in said]
    lines += [""] if lines[-1] else []
    lines += rows("| | the paper says, and a row for each reading | found here | holds |", sentences) if sentences else []
    return lines + (["By panel:", "", *rows("| | panel | found here | holds |", panels)] if panels else [])


def counted(sentences):
    """Return how many sentences there are and how many have each verdict, and which do not hold, in words."""
    found = {verdict: [one["number"] for one in sentences if one["verdict"] == verdict] for verdict in VERDICTS}
    told = [f"{len(of)} {verdict if len(of) == 1 else VERDICTS[verdict]}" + (f" ({', '.join(of)})" if verdict != "holds" else "")
            for verdict, of in found.items() if of]
    return f"{len(sentences)} sentences, of which {', '.join(told)}"


def page():
    """Write docs/reproduction.md from the numbers, and copy the pictures that docs show."""
    told = {name: json.loads((OUT / f"{name}.json").read_text(encoding="utf-8"))
            for name in SCRIPTS if (OUT / f"{name}.json").exists()}
    sentences = [one for script in told.values() for one in script["sentences"]]
    kinds = {several: [one for one in sentences if one["kind"] == kind] for kind, several in KINDS.items()}
    summary = ". ".join(f"{several}: {counted(of)}" for several, of in kinds.items() if of)
    lines = [line for script in told.items() for line in told_in_order(script)]
    text = PAGE + f"**{summary}.**\n\n" + "\n".join(lines).rstrip() + "\n"
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
