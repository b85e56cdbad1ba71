"""A model in one file, without pickle: a zip of arrays in numpy's format (`NAME.npy`) and `header.json`, all that is no array.

A file is written whole or not at all. What is read need not be trusted: `read` checks names, sizes and checksums of the parts,
and takes no memory for what the file only claims. Estimators (`_estimators/saving.py`) and models (`of_file`) check the header
and the arrays, and that learning can produce them. A checksum detects damage, not malice.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import math
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator

import numpy as np

FORMAT = 5
_HEADER = "header.json"
_CHUNK = 1 << 20  # bytes read at a time
_DEFLATE = 1032  # most bytes that deflate makes of one
_NPY = re.compile(rb"\{'descr': '([<>|][biufSU]\d+)', 'fortran_order': False, 'shape': \(([\d, ]*)\), \} *\n")
#: Types of labels that a file can hold.
PLAIN = re.compile(r"\|b1|\|[iu]1|[<>][iu][248]|[<>]f[248]|\|S[1-9]\d*|[<>]U\d+")


class InvalidError(ValueError):
    """Error of invalid content in a file: what was required, what came."""


def require(that: bool, required: str, came) -> None:
    if not that:
        raise InvalidError(f"{required}, got {came!r}")


def require_layout(arrays: dict[str, np.ndarray], layout: dict) -> None:
    """Raise unless these are the arrays of a layout, {name: (shape, dtype)}."""
    found = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    require(found == layout, f"arrays {layout}", found)


def refused(path, required: str, came: str, do: str = "") -> ValueError:
    do = do or "The file is damaged, or was not written by save: take another copy of it, or save the model again."
    name = getattr(path, "name", "<stream>") if hasattr(path, "read") else os.fsdecode(path)
    return ValueError(f"onlinecls.load: {name!r} must be {required}, got {came}. {do}")


@contextlib.contextmanager
def refusing(path) -> Iterator[None]:
    """Turn the errors of damaged and of forged files, whoever finds them, into that of `load`."""
    try:
        yield
    except (
        ValueError, LookupError, TypeError, AttributeError, OverflowError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error
    ) as error:
        problem = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise refused(path, "a model that onlinecls could have saved", f"one that is damaged or invalid ({problem})") from None


def numbered(several: Iterable[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Join the arrays of several models, with those of model k named "k.name"."""
    return {f"{k}.{name}": array for k, arrays in enumerate(several) for name, array in arrays.items()}


def of_number(k: int, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Take the arrays of model k from those that `numbered` has joined."""
    names = [name for name in arrays if name.partition(".")[0] == str(k)]
    return {name.partition(".")[2]: arrays.pop(name) for name in names}


# --- values that JSON does not know --------------------------------------------------------------------------------------------


def packed(value):
    """Convert a parameter to JSON, a numpy number to Python's, a dtype to its name; raise TypeError if JSON cannot hold it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, type | np.dtype) and value in (np.float32, np.float64, float):
        return np.dtype(value).name
    if type(value) is dict:
        return {"dict": [[packed(key), packed(item)] for key, item in value.items()]}
    raise TypeError(type(value).__name__)


def unpacked(form):
    require(not isinstance(form, list), "no lists as parameters", form)
    if not isinstance(form, dict):
        return form
    ((kind, value),) = form.items()
    if kind == "float":
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[value]
    require(kind == "dict", "parameters of a known kind", kind)
    return {unpacked(key): unpacked(item) for key, item in value}


def is_json(value) -> bool:
    """Return True if JSON gives an equal value back: no tuples, no NaN, only texts as keys."""
    try:
        return json.loads(json.dumps(value, allow_nan=False)) == value
    except (TypeError, ValueError, RecursionError):
        return False


# --- writing -------------------------------------------------------------------------------------------------------------------


def write(who: str, path, header: dict, arrays: dict[str, np.ndarray]) -> None:
    """Write a file, whole or not at all: at any moment there is the old one or the new one, even if the power fails.

    who : the caller's name, for errors. path : of a file, or a binary file object.
    """
    if hasattr(path, "write"):
        if not path.seekable():
            raise ValueError(f"{who}: save must have a seekable file, got {path!r}. Save to an io.BytesIO, and write its bytes.")
        _write_parts(path, header, arrays)
        return
    target = os.path.realpath(os.fsdecode(path))
    folder = os.path.dirname(target)
    draft = os.path.join(folder, f".onlinecls-{os.urandom(8).hex()}.tmp")
    try:
        old = os.stat(target) if os.path.exists(target) else None
        if old is not None and not stat.S_ISREG(old.st_mode):
            raise OSError(errno.EISDIR if stat.S_ISDIR(old.st_mode) else errno.EINVAL, "not a regular file")
        try:
            # (The draft of a file that only its owner may read is readable by nobody else.)
            with open(draft, "xb", opener=functools.partial(os.open, mode=0o666 if old is None else 0o600)) as file:
                _write_parts(file, header, arrays)
                file.flush()
                os.fsync(file.fileno())
            if old is not None:
                os.chmod(draft, stat.S_IMODE(old.st_mode))
                with contextlib.suppress(OSError, AttributeError):  # (only root may change the owner)
                    os.chown(draft, old.st_uid, old.st_gid)
            os.replace(draft, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft)
            raise
        if os.name != "nt":  # (Windows has no way to sync a directory)
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    except OSError as error:
        raise OSError(
            error.errno, f"{who}: save must write a file beside its target and put it in its place, got: {error.strerror}. "
            "The old file is unchanged. Save to another path", os.fspath(path)
        ) from error


def _write_parts(file, header: dict, arrays: dict[str, np.ndarray]) -> None:
    """Write the parts; their bytes depend on nothing else (no time is in them)."""
    text = json.dumps({"format": FORMAT, **header}, allow_nan=False)
    with zipfile.ZipFile(file, "w", compresslevel=1) as target:
        target.writestr(zipfile.ZipInfo(_HEADER), text, zipfile.ZIP_DEFLATED)
        for name, part in arrays.items():
            array = np.asarray(part, order="C")
            target.compression = zipfile.ZIP_DEFLATED if _is_compressible(array) else zipfile.ZIP_STORED
            with target.open(f"{name}.npy", "w", force_zip64=array.nbytes >= 1 << 30) as place:
                np.lib.format.write_array(place, array, (1, 0), allow_pickle=False)


def _is_compressible(array: np.ndarray, block: int = 4096) -> bool:
    """Return True if 16 blocks of bytes, spread over the array, shrink by a tenth."""
    whole = array.reshape(-1).view(np.uint8)
    blocks = whole[: len(whole) // block * block].reshape(-1, block)
    sample = blocks[:: max(len(blocks) // 16, 1)].tobytes()
    return len(zlib.compress(sample, 1)) < 0.9 * len(sample)


# --- reading -------------------------------------------------------------------------------------------------------------------


def read(path, most: float = math.inf) -> tuple[dict, dict[str, np.ndarray]]:
    """Read the header (any JSON) and the arrays of an undamaged file, of at most `most` bytes when unpacked.

    numpy allocates the arrays, which are thus aligned, writable and in the machine's order of bytes.
    """
    with contextlib.nullcontext(path) if hasattr(path, "read") else open(path, "rb") as file:
        if not file.seekable():
            raise refused(path, "seekable", "a pipe or the like", "Read its bytes, and load io.BytesIO of them.")
        with refusing(path):
            source = zipfile.ZipFile(file)
            parts = _parts_of(source, file.seek(0, os.SEEK_END))
            n_bytes = sum(part.file_size for part in parts.values())
        if n_bytes > most:
            raise refused(path, f"a model of at most {most:,.0f} bytes", f"one of {n_bytes:,}",
                          "Set max_bytes (by default the memory that is free) if you trust the file.")
        with refusing(path):
            header = json.loads(source.read(parts.pop(_HEADER)))
            number = header.pop("format")
        if number != FORMAT:
            from . import __version__

            raise refused(path, f"of format {FORMAT}, the one that onlinecls {__version__} reads", f"format {number!r}",
                          "Load it with the version of onlinecls that wrote it: a newer one for a higher number.")
        with refusing(path):
            return header, {name.removesuffix(".npy"): _array(source, part) for name, part in parts.items()}


def _parts_of(source: zipfile.ZipFile, size: int) -> dict[str, zipfile.ZipInfo]:
    """Return the parts of a file of this size by name; raise unless they can be within it."""
    listed = source.infolist()
    parts = {part.filename: part for part in listed}
    names = len(parts) == len(listed) and all(name == _HEADER or name.endswith(".npy") for name in parts)
    require(names, f"{_HEADER} and arrays, each once", [part.filename for part in listed][:99])
    most = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: _DEFLATE}
    for part in listed:
        fits = 0 <= part.header_offset < size and part.file_size <= most.get(part.compress_type, 0) * part.compress_size
        require(fits, "parts within the file, stored or deflated", part.filename)
    require(sum(part.compress_size for part in listed) <= size, f"parts within the file's {size} bytes", "larger ones")
    return parts


def _array(source: zipfile.ZipFile, part: zipfile.ZipInfo) -> np.ndarray:
    """Read an array, of whose shape nothing is allocated unless the part has as many bytes."""
    with source.open(part) as file:
        start = file.read(10)
        text = file.read(int.from_bytes(start[8:], "little"))
        form = _NPY.fullmatch(text)
        require(start[:8] == b"\x93NUMPY\x01\x00" and form is not None, f"{part.filename} with a header of numpy's", text[:99])
        shape, dtype = tuple(map(int, re.findall(rb"\d+", form[2]))), np.dtype(form[1].decode())
        n_bytes = math.prod(shape) * dtype.itemsize
        require(len(start) + len(text) + n_bytes == part.file_size, f"{part.filename} of shape {shape}", part.file_size)
        array = np.empty(shape, dtype)
        room = memoryview(array.reshape(-1).view(np.uint8))
        while n_bytes and (chunk := file.read(min(n_bytes, _CHUNK))):  # (with the last one, zipfile checks the sum)
            room[len(room) - n_bytes :][: len(chunk)] = chunk
            n_bytes -= len(chunk)
        require(n_bytes == 0 and not file.read(1), f"{part.filename}, whole", f"{n_bytes} bytes less")
    return array.astype(dtype.newbyteorder("="), copy=False)
