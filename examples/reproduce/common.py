"""Where data and results are, drawing, and the papers' sentences beside what was found: shared by the scripts of this folder.

Each script takes --full (the papers' repetitions, where the default has fewer) and --smoke (as little as shows that it runs; its
numbers go to reproduced/smoke).
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

from onlinecls import progressive_validation

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("ONLINECLS_DATA", ROOT / ".." / "shared" / "data"))
FULL, SMOKE = "--full" in sys.argv, "--smoke" in sys.argv
OUT = ROOT / "reproduced" / "smoke" if SMOKE else ROOT / "reproduced"
DEVIATION = 8.5  # of the synthetic data's 18 features that are noise
COLOURS = {
    "PA-I": "tab:red", "PA": "tab:red", "SOP": "tab:purple", "CW": "tab:orange", "AdaGrad": "tab:green", "NAROW": "tab:blue",
    "AROW": "black",
}


def reading(name, found, held, why=""):
    """Return one way to read a sentence ("by the median", "as printed"), what was found, whether it held so, and if not, why."""
    return {"name": name, "found": f"{found}; {why}" if why and not held else found, "held": bool(held)}


def sentence(number, says, readings, kind="experiment", verdict=""):
    """Return a sentence of a paper with its readings, which decide whether it holds.

    kind : "experiment", "theorem", or "elsewhere", a theorem of other papers. verdict : "slip" of a theorem whose printed form is
    false, "notation" where it says something else than it means, "undecided" where the text cannot tell; each holds as mended.
    """
    held = [one["held"] for one in readings]
    if not verdict or not held[-1]:
        verdict = "holds" if all(held) else "holds on some readings" if any(held) else "does not hold"
    return {"number": number, "says": says, "kind": kind, "readings": readings, "verdict": verdict}


def keep(name, source, sentences, numbers=None, skipped="", remarks=()):
    """Write a script's sentences and numbers, from which the page is written."""
    OUT.mkdir(parents=True, exist_ok=True)
    told = {"source": source, "sentences": sentences, "numbers": numbers or {}, "skipped": skipped, "remarks": list(remarks)}
    (OUT / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    for one in sentences:
        print(f"{name}: {one['number']} {one['says']} {one['verdict'].upper()}")
        for way in one["readings"]:
            print(f"    {way['name']}: {'yes' if way['held'] else 'NO'}: {way['found']}")
    if skipped:
        print(f"{name}: skipped: {skipped}")


def picture(figure, name):
    OUT.mkdir(parents=True, exist_ok=True)
    figure.savefig(OUT / f"{name}.png", dpi=110)
    plt.close(figure)


def there(*names):
    """Return the first missing file of these, or None."""
    return next((name for name in names if not (DATA / name).exists()), None)


def read_tsv(name):
    """Return (label, text) of each line."""
    with gzip.open(DATA / name, "rt", encoding="utf-8", newline="\n") as lines:
        return [tuple(line.rstrip("\n").split("\t", 1)) for line in lines]


def mistakes_along(learner, X, y, clean=None, every=50):
    """Return (rows so far, mistakes so far against the clean labels) of one pass."""
    result = progressive_validation(learner, (X, y), clean, classes=[-1, 1], every=every)
    return result.examples, result.examples * result.error


def flipped(y, share, rng):
    return np.where(rng.random(len(y)) < share, -y, y)


def ellipsoid(n, rng, deviation, degrees=45.0):
    """Return rows of both papers' synthetic data, signs and signed distances from the separator.

    Two of the 20 features are a Gaussian of the deviations 1 and 10, turned by so many degrees; the label is the side of its long
    axis. The other 18 are noise of this deviation.
    """
    short, long = rng.standard_normal(n), 10.0 * rng.standard_normal(n)
    cosine, sine = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    X = np.column_stack([cosine * long + sine * short, sine * long - cosine * short, deviation * rng.standard_normal((n, 18))])
    return X, np.where(short > 0.0, 1, -1), short
