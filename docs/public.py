"""Public names, as the reference lists them: of the package, by what they learn, then of each submodule."""

from importlib import import_module
from importlib.util import find_spec

import onlinecls

KINDS = {"classifier": "Classifiers", "regressor": "Regressors", "outlier_detector": "One class"}
OTHERS = "Pipelines, evaluation, files"


def _is_public(module, name):
    found = getattr(module, name)
    return callable(found) and name[0] != "_" and getattr(found, "__module__", "").startswith("onlinecls")


def sections():
    """Return (title, module, names) of each section of the reference."""
    made = {title: [] for title in [*KINDS.values(), OTHERS]}
    for name in onlinecls.__all__:
        made[KINDS.get(getattr(getattr(onlinecls, name), "_estimator_type", None), OTHERS)].append(name)
    found = [(title, "onlinecls", names) for title, names in made.items() if names]
    for short in [*onlinecls._SUBMODULES, *(["river"] if find_spec("river") else [])]:
        module = import_module(f"onlinecls.{short}")
        names = [name for name in getattr(module, "__all__", dir(module)) if _is_public(module, name)]
        found.append((f"onlinecls.{short}", module.__name__, [name for name in names if name not in onlinecls.__all__]))
    return found
