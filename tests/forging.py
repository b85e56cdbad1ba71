"""Model files with other contents under a right checksum."""

import numpy as np
from fuzz.models import parts_of, signed


def forged(path, change=lambda told, header, arrays: None, **told_changes):
    """The file with other contents under a right checksum; change may edit the description, the header and the arrays."""
    header, told, arrays = parts_of(path.read_bytes())
    arrays = {name: bytearray(array) for name, array in arrays.items()}
    change(told, header, arrays)
    path.write_bytes(signed(header, {**told, **told_changes}, arrays))


def setting(where, key, value):
    return lambda told, header, arrays: {"told": told, "header": header, **told, **header}[where].__setitem__(key, value)


def poking(name, at, value, dtype="f8"):
    def change(told, header, arrays):
        np.frombuffer(arrays[name], dtype)[at] = value

    return change
