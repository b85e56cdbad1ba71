"""Model files with other contents under right checksums."""

from fuzz.models import file_of, parts_of


def forged(path, change=lambda told, arrays: None, **told_changes):
    """The file with other contents; change may edit the description and the arrays."""
    told, arrays = parts_of(path.read_bytes())
    change(told, arrays)
    path.write_bytes(file_of({**told, **told_changes}, arrays))


def setting(where, key, value):
    return lambda told, arrays: {"told": told, **told}[where].__setitem__(key, value)


def poking(name, at, value, dtype=None):
    def change(told, arrays):
        flat = arrays[name].reshape(-1)
        flat.view(dtype or flat.dtype)[at] = value

    return change
