"""Where data and results are, drawing, and the papers' sentences beside what was found: shared by the scripts of this folder.

Each script takes --smoke, as little as shows that it runs (its numbers go to reproduced/smoke), and some --full: the papers'
repetitions and folds.
"""

import gzip
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from onlinecls import progressive_validation

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("ONLINECLS_DATA", ROOT / ".." / "shared" / "data"))
FULL, SMOKE = "--full" in sys.argv, "--smoke" in sys.argv
OUT = ROOT / "reproduced" / "smoke" if SMOKE else ROOT / "reproduced"
COLOURS = {"PA": "tab:red", "PA-I": "tab:red", "SOP": "tab:purple", "CW": "tab:orange", "AdaGrad": "tab:green",
           "NAROW": "tab:blue", "AROW": "black"}


def reading(name, found, held):
    """Return one way to read or measure a sentence ("as printed", "CW stdev"), what was found, and whether it held so."""
    return {"name": name, "found": found, "held": bool(held)}


def sentence(number, says, readings, kind="experiment", verdict=""):
    """Return a sentence of a paper with its readings, which decide whether it holds.

    kind : "experiment", "theorem", or "elsewhere", a theorem of other papers. verdict : "slip" of a theorem whose printed form is
    false, "notation", "omission" or "undecided" where it holds as it is meant; its last reading is that of the form that holds.
    """
    held = [one["held"] for one in readings]
    if not verdict or not held[-1]:
        verdict = "holds" if all(held) else "holds on some readings" if any(held) else "does not hold"
    return {"number": number, "says": says, "kind": kind, "readings": readings, "verdict": verdict}


def keep(name, source, sentences, numbers=None, skipped="", remarks=()):
    """Write a script's sentences and numbers, from which the page is written."""
    OUT.mkdir(parents=True, exist_ok=True)
    remarks = [*remarks, *([f"skipped: {skipped}"] if skipped else [])]
    told = {"source": source, "sentences": sentences, "numbers": numbers or {}, "remarks": remarks}
    (OUT / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    for one in sentences:
        print(f"{name}: {one['number']} {one['says']} {one['verdict'].upper()}")
        for way in one["readings"]:
            print(f"    {way['name']}: {'yes' if way['held'] else 'NO'}: {way['found']}")
    print(*(f"{name}: {remark}" for remark in remarks), sep="\n")


def picture(figure, name):
    """Write a picture in 64 colours."""
    OUT.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT / f"{name}.png", dpi=80)
    plt.close(figure)
    with Image.open(OUT / f"{name}.png") as image:
        small = image.convert("RGB").quantize(64)
    small.save(OUT / f"{name}.png", optimize=True)


def read_tsv(name):
    """Return (label, text) of each line of a file, and nothing of one that is not there."""
    if not (DATA / name).exists():
        return []
    with gzip.open(DATA / name, "rt", encoding="utf-8", newline="\n") as lines:
        return [tuple(line.rstrip("\n").split("\t", 1)) for line in lines]


def mistakes_along(learner, X, y, clean=None, every=50):
    """Return (rows so far, mistakes so far against the clean labels) of one pass."""
    result = progressive_validation(learner, (X, y), clean, classes=[-1, 1], every=every)
    return result.examples, result.examples * result.error


def listed(found):
    return ", ".join(f"{name} {value:.0f}" for name, value in sorted(found.items(), key=lambda item: item[1]))


def flipped(y, share, rng):
    return np.where(rng.random(len(y)) < share, -y, y)


def ellipsoid(n, rng, deviation):
    """Return rows of both papers' synthetic data, signs and signed distances from the separator.

    Two of the 20 features are a Gaussian of the deviations 1 and 10, turned by 45 degrees; the label is the side of its long
    axis. The other 18 are noise of this deviation.
    """
    short, long = rng.standard_normal(n), 10.0 * rng.standard_normal(n)
    noise = deviation * rng.standard_normal((n, 18))
    return np.column_stack([(long + short) / 2.0**0.5, (long - short) / 2.0**0.5, noise]), np.where(short > 0.0, 1, -1), short
