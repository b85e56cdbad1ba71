"""Streams in parts, on many cores and machines: each part is learnt in one pass, and the models are merged.

    model = onlinecls.parallel.fit(onlinecls.AROWClassifier(), "part-*.tsv", n_jobs=8)

The engine is joblib's (processes, threads, and the backends registered with it) or Dask's; `learn_part` and `merge_bytes` are
the two halves for any other.
"""

from ._fit import fit
from ._parts import learn_part, merge_bytes

__all__ = ["fit", "learn_part", "merge_bytes"]


def __dir__() -> list[str]:
    return __all__
