"""Numbers of weights in half precision, for smaller files."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._input.validate import available_memory
from .._saving import InvalidError, require
from .units import YOUTH

_OWN = {"values", "counts", "counters", "calibration", "classes", *YOUTH}  # arrays of a learner whose features share no numbers
_LARGEST = 2.0**15  # what float16 stores of the largest number of its kind
_LEAST = float(np.finfo(np.float16).smallest_subnormal)
_CHUNK = 1 << 14  # records that are rounded at a time, in double


def to_half(who: str, arrays: dict[str, np.ndarray], n_slots: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Round the numbers of each weight to float16, as shares of the largest one of their kind and class.

    The largest number, 0, and a variance that no row has changed stay as they are, whatever the unit of X. Returns the arrays to
    write and {name: [dtype, the largest numbers]} of the rounded ones.
    """
    found, half = dict(arrays), {}
    for name, array in arrays.items():
        model, dot, part = name.rpartition(".")
        if part != "values":
            continue
        parts = {other.removeprefix(model + dot) for other in arrays if other.rpartition(".")[0] == model and arrays[other].size}
        _require_own(who, parts)
        records = array.reshape(n_slots, -1)
        largest = np.maximum(records.max(axis=0), -records.min(axis=0)).astype(np.float64)
        largest[largest == 0.0] = 1.0
        shares = np.empty(records.shape, np.float16)
        for k in range(0, n_slots, _CHUNK):
            exact = records[k : k + _CHUNK] / (largest / _LARGEST)
            lost = (np.abs(exact) < _LEAST) & (exact != 0.0)  # (a variance must not become 0)
            shares[k : k + _CHUNK] = np.where(lost, np.copysign(_LEAST, exact), exact)
        found[name], half[name] = shares.reshape(-1), [array.dtype.name, largest.tolist()]
    if not half:
        _require_own(who, {"numbers of rows"})
    return found, half


def _require_own(who: str, parts: set[str]) -> None:
    if not parts <= _OWN:
        raise ValueError(
            f"{who}: save must have a learner whose features have numbers of their own for weights='float16', got one that keeps "
            f"{', '.join(sorted(parts - _OWN))}. Leave weights out."
        )


def to_single(header: dict, arrays: dict[str, np.ndarray], max_bytes: float | None = None) -> dict[str, np.ndarray]:
    """Widen the arrays that `to_half` has rounded, and remove their entry from a header, which is not trusted.

    max_bytes : most bytes of these arrays together; None: the free memory.
    """
    half = header.pop("half", {})
    require(isinstance(half, dict), "names of rounded arrays", half)
    found, n_bytes, most = dict(arrays), 0, available_memory() if max_bytes is None else max_bytes
    for name, (dtype, largest) in half.items():
        shares = arrays[name]
        require(dtype in ("float32", "float64") and shares.dtype == np.float16 and shares.ndim == 1, "float16", shares.dtype)
        numbers = type(largest) is list and all(type(each) is float and 0.0 < each < np.inf for each in largest)
        require(numbers and len(largest) > 0 and len(shares) % len(largest) == 0, "the largest numbers of a record", largest)
        n_bytes += len(shares) * np.dtype(dtype).itemsize
        if n_bytes > most:
            raise InvalidError(f"arrays of at most {most:,.0f} bytes (max_bytes), got {n_bytes:,}")
        records = shares.reshape(-1, len(largest))
        whole = np.empty(records.shape, dtype)
        with np.errstate(over="ignore", invalid="ignore"):  # (the model's own checks refuse infinity and NaN)
            for k in range(0, len(records), _CHUNK):
                whole[k : k + _CHUNK] = records[k : k + _CHUNK] * (np.array(largest) / _LARGEST)
        found[name] = whole.reshape(-1)
    return found
