"""Does the recipe of docs/inside.md for a new geometry work? NHERD's exact diagonal form, built by it, against a loop of NumPy.

    w += τ Σx,   σ_j /= (1 + β x_j² σ_j)²       (τ and β by AROW's rule)

The eight edits below, in four files, are made in a temporary copy of the tree, which is then built: a minute or two.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

#: (file, a text that occurs once, what stands there instead)
EDITS = [
    ("_rules.pxd", "    GAUSSIAN_KERNEL         # and Σ on them\n",
     "    GAUSSIAN_KERNEL         # and Σ on them\n    EXACT                   # w, its variance σ -> w\n"),
    ("_rules.pxd", "    elif geometry == GAUSSIAN or geometry == FORGETTING:\n",
     "    elif geometry == GAUSSIAN or geometry == FORGETTING or geometry == EXACT:\n"),
    ("_core.pyx", "    ADDITIVE, DUAL, FORGETTING,", "    EXACT, ADDITIVE, DUAL, FORGETTING,"),
    ("_core.pyx", "    elif geometry == FORGETTING:        # the same with",
     "    elif geometry == EXACT:             # w += τ σ x,   σ /= (1 + β x² σ)²\n"
     "        second = state[b]\n"
     "        state[a] += tau * (x * second)\n"
     "        g = one + beta * (x * (x * second))\n"
     "        state[b] = larger(second / (g * g), <floating>p.floor)\n"
     "    elif geometry == FORGETTING:        # the same with"),
    ("_core.pyx", "    elif p.geometry == FORGETTING:\n        return run(FORGETTING,",
     "    elif p.geometry == EXACT:\n        return run(EXACT, b, context, state, data, indices, p)\n"
     "    elif p.geometry == FORGETTING:\n        return run(FORGETTING,"),
    ("_core.pyx", "    elif p.geometry == FORGETTING:\n        apply_step_all(FORGETTING,",
     "    elif p.geometry == EXACT:\n        apply_step_all(EXACT, state, context, steps, data, indices, row, p)\n"
     "    elif p.geometry == FORGETTING:\n        apply_step_all(FORGETTING,"),
    ("_models.py", "class ForgettingState(GaussianState):",
     'class ExactState(GaussianState):\n    """values : w and σ."""\n\n    geometry = "exact"\n\n\n'
     "class ForgettingState(GaussianState):"),
    ("_registry.py", 'Algorithm("arow", "arow", "gaussian",', 'Algorithm("arow", "arow", "exact",'),
]

CHECK = """
import numpy as np, onlinecls
rng = np.random.default_rng(0)
for n_classes in (2, 3):
    X, y = rng.standard_normal((400, 7)) * (rng.random((400, 7)) < 0.6), rng.integers(0, n_classes, 400)
    n, r = n_classes if n_classes > 2 else 1, 0.5
    w, sigma = np.zeros((n, 7)), np.ones((n, 7))
    for x, label in zip(X, y):
        for c in range(n):
            sign = 1.0 if label == (c if n > 1 else 1) else -1.0
            v, loss = (x * x * sigma[c]).sum(), 1.0 - sign * (w[c] @ x)
            if loss > 0.0 and v > 0.0:
                w[c] += sign * loss / (v + r) * sigma[c] * x
                sigma[c] /= (1.0 + x * x * sigma[c] / r) ** 2
    learner = onlinecls.AROWClassifier(r=r, scale=1.0, fit_intercept=False).partial_fit(X, y, classes=range(n_classes))
    assert learner.t_ == 400
    np.testing.assert_allclose(learner.coef_, w, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(learner.covariance_, sigma.reshape(learner.covariance_.shape), rtol=1e-12)
print("NHERD's exact form: equal to NumPy for two classes and three")
"""


def edited(source):
    """Make the edits in a tree; raise unless each text occurs once."""
    for name, old, new in EDITS:
        path = source / name
        text = path.read_text()
        if text.count(old) != 1:
            sys.exit(f"recipe.py: a text must occur once in its file; {text.count(old)} times in {name}: {old!r}")
        path.write_text(text.replace(old, new))


def main():
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__"))
        for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, tree)
        edited(tree / "src/onlinecls")
        build = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
        subprocess.run(build, cwd=tree, check=True, env={**os.environ, "CFLAGS": "-O0"})
        subprocess.run([sys.executable, "-c", CHECK], cwd=tree, check=True, env={**os.environ, "PYTHONPATH": str(tree / "src")})


if __name__ == "__main__":
    main()
