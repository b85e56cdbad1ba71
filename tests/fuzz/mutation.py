"""Small damage to bytes, to JSON and to arrays: what parsers and checks are likely to get wrong."""

import numpy as np

NUMBERS = [
    0, 1, -1, 2, 7, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, -(2**31), 2**32, 2**32 + 1, 2**53 + 1, 2**56, 2**56 + 1, 2**62,
    2**63 - 1, 2**63, -(2**63), 2**64, 10**30,
]
FLOATS = [
    0.0, -0.0, 0.5, 1.0, -1.0, 3.0, 1e-3, 1e10, 1e19, -1e20, 3.4e38, 3.5e38, 1e154, 1e300, 1.7e308, 1e-38, 1e-45, 1e-160,
    5e-324, np.nan, np.inf, -np.inf,
]


def one_of(draw, options):
    return options[int(draw.integers(len(options)))]


def chance(draw, p):
    return draw.random() < p


def mutated_bytes(draw, data, tokens=(), times=None):
    """Bytes changed, left out, doubled, moved, cut off, or a token put in."""
    data = bytearray(data)
    for _ in range(int(draw.geometric(0.4)) if times is None else times):
        at, size = int(draw.integers(len(data) + 1)), int(draw.integers(1, 9))
        kind = int(draw.integers(7))
        if kind == 0 and at < len(data):
            data[at] ^= 1 << int(draw.integers(8))
        elif kind == 1 and at < len(data):
            data[at] = int(draw.choice([0, 9, 10, 13, 32, 34, 44, 58, 92, 124, 127, 128, 255, int(draw.integers(256))]))
        elif kind == 2:
            del data[at : at + size]
        elif kind == 3:
            data[at:at] = data[at : at + size]
        elif kind == 4:
            other = int(draw.integers(len(data) + 1))
            data[at : at + size] = data[other : other + size]
        elif kind == 5 and tokens:
            data[at : at + size * int(draw.integers(2))] = one_of(draw, tokens)
        elif kind == 6 and chance(draw, 0.2):
            del data[at:]
    return bytes(data)


def mutated_json(draw, value, depth=0):
    """Return the JSON value with one of its values changed."""
    if isinstance(value, dict) and value and (depth == 0 or chance(draw, 0.85)):
        name, found = one_of(draw, list(value)), dict(value)
        kind = int(draw.integers(12))
        if kind == 0:
            del found[name]
        elif kind == 1:
            found[str(odd_value(draw))] = found[name]
        else:
            found[name] = mutated_json(draw, found[name], depth + 1)
        return found
    if isinstance(value, list) and value and chance(draw, 0.8):
        at, found = int(draw.integers(len(value))), list(value)
        kind = int(draw.integers(6))
        if kind == 0:
            del found[at]
        elif kind == 1:
            found.insert(at, found[at])
        else:
            found[at] = mutated_json(draw, found[at], depth + 1)
        return found
    if isinstance(value, bool) and chance(draw, 0.5):
        return not value
    if isinstance(value, int) and chance(draw, 0.5):
        return value + int(draw.integers(-2, 3))
    if isinstance(value, float) and chance(draw, 0.5):
        return value * float(draw.choice([-1.0, 0.5, 2.0, 1e300, 1e-300, 1.0000001]))
    return odd_value(draw)


def odd_value(draw):
    """Return a JSON value that few parsers expect."""
    return one_of(
        draw,
        [
            None, True, False, "", "0", "a", "\x1b[2J", "\ud800", "auto", "float32", "x" * 5000, [], {}, [0], [[]], {"a": 1},
            {"float": "inf"}, {"float": "nan"}, {"numpy": ["int64", 3]}, {"dict": [[1, 2]]}, {"type": "float32"}, *NUMBERS,
            *FLOATS,
        ])


def poked(draw, array):
    """The array with a few of its numbers changed."""
    array = np.array(array)
    flat = array.reshape(-1)
    for _ in range(int(draw.geometric(0.5)) if flat.size else 0):
        at = int(draw.integers(flat.size))
        if array.dtype.kind == "f":
            with np.errstate(all="ignore"):
                flat[at] = one_of(draw, [*FLOATS, -flat[at], 2.0 * flat[at], flat[at] + 1.0])
        else:
            info = np.iinfo(array.dtype)
            changed = one_of(draw, [*NUMBERS, int(flat[at]) + 1, int(flat[at]) - 1, -int(flat[at])])
            flat[at] = min(max(changed, info.min), info.max)
    return array
