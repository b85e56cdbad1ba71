"""Shared code of these scripts: paths of data and results, drawing, and claims beside findings."""

import gzip
import json
import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from onlinecls import progressive_validation

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("ONLINECLS_DATA", ROOT / ".." / "shared" / "data"))
OUT = ROOT / "reproduced"
COLOURS = {
    "PA-I": "tab:red", "PA": "tab:red", "SOP": "tab:purple", "CW": "tab:orange", "AdaGrad": "tab:green", "NAROW": "tab:blue",
    "AROW": "black",
}


def claim(says, found, held, why=""):
    """Record a statement of a paper: what was found here, if it held, and if not, why."""
    return {"claim": says, "found": found, "held": bool(held), "why": "" if held else why}


def keep(name, source, claims, numbers=None, skipped=""):
    """Write a script's numbers, for the page."""
    OUT.mkdir(exist_ok=True)
    told = {"source": source, "claims": claims, "numbers": numbers or {}, "skipped": skipped}
    (OUT / f"{name}.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    for one in claims:
        print(f"{name}: {'held' if one['held'] else 'NOT held'}: {one['claim']} Found: {one['found']}")
    if skipped:
        print(f"{name}: skipped: {skipped}")


def picture(figure, name):
    OUT.mkdir(exist_ok=True)
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
    """Flip a share of the labels."""
    return np.where(rng.random(len(y)) < share, -y, y)


def ellipsoid(n, rng):
    """Make the data of both papers: 20 features, two of them an ellipsoid at 45 degrees with deviations 1 and 10, 18 pure noise
    of variance 8.5; the label is the side of the long axis."""
    short, long = rng.standard_normal(n), 10.0 * rng.standard_normal(n)
    X = np.column_stack([(long + short) / 2**0.5, (long - short) / 2**0.5, 8.5**0.5 * rng.standard_normal((n, 18))])
    return X, np.where(short > 0.0, 1, -1), short
