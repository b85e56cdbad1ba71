"""A model in one file, without pickle: written whole or not at all, refused if a byte has changed.

The layout is that of safetensors, so that other programs can read the arrays: 8 bytes of length (little-endian), a JSON header
padded with blanks to a multiple of 64 bytes, then the arrays, little-endian, end to end. Its ``__metadata__`` has the format's
number, a SHA-256 over the whole file (with 64 zeros in its own place), and, as one JSON text, everything that is not an array.

A checksum detects damage, not malice: whoever can write the file can write the checksum too. Only the file is checked here.
Estimators (`_estimators/saving.py`) and models (`of_file` of `_models/state.py`) check the description and the arrays, and that
learning can produce them.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import io
import json
import math
import os
import stat
import time
import zlib
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

FORMAT = 2
_BEGINNING = b'{"__metadata__":{"format":"onlinecls '
_UNSIGNED = "0" * 64  # in place of the checksum while it is computed
_ALIGNMENT = 64
_DRAFT = ".onlinecls-"  # beginning of a file's name while it is written
_CHUNK = 1 << 20  # bytes read and hashed at a time: they are still in the cache when they are hashed
_ZSTANDARD = b"\x28\xb5\x2f\xfd"  # beginning of its files
_TENSORS = {
    "F16": np.dtype("<f2"), "F32": np.dtype("<f4"), "F64": np.dtype("<f8"), "U8": np.dtype("u1"), "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
}
_TENSOR_NAMES = {dtype: name for name, dtype in _TENSORS.items()}
_SCALARS = {
    name: np.dtype(name).type for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
}
_DTYPES = {"float32": np.float32, "float64": np.float64, "float": float}


class InvalidError(ValueError):
    """Error of invalid content in a file: what was required, what came."""


def require(that: bool, required: str, came) -> None:
    if not that:
        raise InvalidError(f"{required}, got {came!r}")


def require_layout(arrays: dict[str, np.ndarray], layout: dict) -> None:
    """Raise unless these are the arrays of a layout, {name: (shape, dtype)}."""
    found = {name: (array.shape, array.dtype) for name, array in arrays.items()}
    require(found == layout, f"arrays {layout}", found)


def numbered(several: Iterable[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Join the arrays of several models, with those of model k named "k.name"."""
    return {f"{k}.{name}": array for k, arrays in enumerate(several) for name, array in arrays.items()}


def of_number(k: int, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays of model k from those that `numbered` has joined."""
    names = [name for name in arrays if name.partition(".")[0] == str(k)]
    return {name.partition(".")[2]: arrays.pop(name) for name in names}


# --- values that JSON does not know --------------------------------------------------------------------------------------------


def packed(value):
    """Convert a parameter to JSON; raise TypeError if reading it back would not give the same value."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if type(value) is np.str_:
        return {"numpy": ["str", str(value)]}
    if isinstance(value, np.generic) and value.dtype.name in _SCALARS:
        return {"numpy": [value.dtype.name, packed(value.item())]}
    for name, scalar in _DTYPES.items():
        if value is scalar:
            return {"type": name}
        if isinstance(value, np.dtype) and value == scalar:
            return {"dtype": name}
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
    if kind == "numpy":
        name, value = value
        return np.str_(value) if name == "str" else _SCALARS[name](unpacked(value))
    if kind == "type":
        return _DTYPES[value]
    if kind == "dtype":
        return np.dtype(_DTYPES[value])
    if kind == "dict":
        return {unpacked(key): unpacked(item) for key, item in value}
    raise InvalidError(f"parameters of a known kind, got {kind!r}")


def is_json(value) -> bool:
    """Return True if JSON gives the value back unchanged: no tuples, no numpy numbers, only texts as keys."""
    if type(value) is dict:
        return all(type(key) is str and is_json(item) for key, item in value.items())
    if type(value) is list:
        return all(map(is_json, value))
    return value is None or type(value) in (bool, int, str) or (type(value) is float and math.isfinite(value))


# --- the file ------------------------------------------------------------------------------------------------------------------


def _header(model: dict, arrays: dict[str, np.ndarray], digest: str) -> bytes:
    """Return the length and header that begin the file. Arrays are in the given order."""
    tensors, at = {}, 0
    for name, array in arrays.items():
        tensors[name] = {"dtype": _TENSOR_NAMES[array.dtype], "shape": array.shape, "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    metadata = {"format": f"onlinecls {FORMAT}", "sha256": digest, "model": json.dumps(model, allow_nan=False)}
    text = json.dumps({"__metadata__": metadata, **tensors}, separators=(",", ":")).encode()
    assert text.startswith(_BEGINNING)
    text += b" " * (-(8 + len(text)) % _ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def write(who: str, path: str | bytes, model: dict, arrays: dict[str, np.ndarray]) -> None:
    """Write a file of this description and these arrays, whole or not at all. who : the caller's name, for errors."""
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, -arrays[name].nbytes))  # each one aligned
    little = {name: np.asarray(arrays[name], arrays[name].dtype.newbyteorder("<"), order="C") for name in order}
    digest = _sha256(_header(model, little, _UNSIGNED))
    for array in little.values():
        digest.update(array.reshape(-1))
    parts = [_header(model, little, digest.hexdigest()), *little.values()]
    if hasattr(path, "write"):
        _write_parts(path, parts)
        return
    packer, mode = _packer(who, os.fsdecode(path)), _mode_of(path)
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):  # (replaced by a file, it would be lost to its readers)
        with open(path, "wb") as file, packer(file) as packed:
            _write_parts(packed, parts)
    elif mode and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise OSError(
            errno.EINVAL, f"{who}: save must write to a regular file, a pipe or a character device, got another kind. "
            "Save to another path", os.fspath(path)
        )
    else:
        _replace(who, os.path.realpath(path), parts, packer)


def _mode_of(path: str | bytes) -> int:
    """Return the mode of the file at a path; 0 if there is none."""
    try:
        return os.stat(path).st_mode
    except OSError:
        return 0


def _write_parts(file, parts: list) -> None:
    for part in parts:
        file.write(memoryview(part).cast("B") if memoryview(part).nbytes else b"")


def _packer(who: str, name: str):
    """Return the compressor for a file's name; its bytes depend on the model alone."""
    if name.endswith(".gz"):
        return lambda file: _gzip()("", "wb", 6, file, mtime=0)
    if name.endswith(".zst"):
        return lambda file: _zstandard(who).open(file, "wb")
    return contextlib.nullcontext  # (which gives the file itself)


def _gzip():
    from gzip import GzipFile  # slow to import, rarely needed

    return GzipFile


def _zstandard(who: str):
    from importlib import import_module

    for module in ("compression.zstd", "backports.zstd"):  # Python 3.14, and its backport
        with contextlib.suppress(ImportError):
            return import_module(module)
    raise ImportError(f'{who}: Zstandard files need a package that is missing: pip install "onlinecls[zstd]"')


def _opened(path, mmap: bool, most: float):
    """Return a file to read from, and its size. It is in memory if it is compressed (at most `most` bytes) or a stream."""
    file = path if hasattr(path, "read") else open(path, "rb")
    start = b"" if file is path else file.peek(4)
    if file is path:
        file = io.BytesIO(path.read())
        start = file.getvalue()[:4]
    is_gzip, is_zstandard = start.startswith(b"\x1f\x8b"), start.startswith(_ZSTANDARD)
    if mmap and (is_gzip or is_zstandard or isinstance(file, io.BytesIO)):
        file.close()
        raise refused(path, "the path of an uncompressed file for mmap=True", "another", "Unpack it, or load it without mmap.")
    if not (is_gzip or is_zstandard):
        size = len(file.getvalue()) if isinstance(file, io.BytesIO) else os.fstat(file.fileno()).st_size
        return file, size
    with file:
        return _unpacked(path, _gzip()(fileobj=file) if is_gzip else _zstandard("onlinecls.load").open(file, "rb"), most)


def _unpacked(path, packed, most: float):
    """Unpack a compressed file: its header first, then the arrays listed there, unless they are too large."""
    found = io.BytesIO()

    def unpack(n: float) -> None:
        while found.tell() < n and (chunk := packed.read(int(min(_CHUNK, n - found.tell())))):
            found.write(chunk)

    try:
        unpack(8 + len(_BEGINNING))
        start = found.getvalue()
        if start[8:] == _BEGINNING:
            length = int.from_bytes(start[:8], "little")
            _require_room(path, 8 + length, most)
            unpack(8 + length)
            size = found.tell()
            found.seek(0)
            whole = _read_header(path, found, size).size
            _require_room(path, whole, most)
            unpack(whole + 1)  # (a byte too many is an error)
    except Exception as error:
        if not isinstance(error, (EOFError, OSError, zlib.error)) and type(error).__name__ != "ZstdError":
            raise
        raise refused(path, "a whole compressed file", f"one that is cut or damaged ({error})") from None
    size = found.seek(0, os.SEEK_END)
    found.seek(0)
    return found, size


def _require_room(path, n_bytes: int, most: float) -> None:
    if n_bytes > most:
        raise refused(
            path, f"a model of at most {most:,.0f} bytes", f"one of {n_bytes:,}",
            "Set max_bytes (by default the machine's memory) if you trust the file.",
        )


def _most_memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not POSIX
        return float(1 << 40)


def _sha256(start: bytes):
    from hashlib import sha256  # (OpenSSL: imported only to save and load)

    return sha256(start)


def _replace(who: str, path: str | bytes, parts: list, packer) -> None:
    """Replace a file by another: at any moment there is the old one or the new one, even if the power fails."""
    folder = os.path.dirname(path)
    _remove_drafts(folder)
    token = f"{_DRAFT}{os.urandom(8).hex()}.tmp"
    draft = os.path.join(folder, os.fsencode(token) if isinstance(path, bytes) else token)
    exists = os.path.exists(path)
    try:
        try:
            if os.path.isdir(path):
                raise IsADirectoryError(21, "Is a directory")
            # (The draft of a file that only its owner may read is readable by nobody else.)
            opener = functools.partial(os.open, mode=0o600 if exists else 0o666)
            with open(draft, "xb", opener=opener) as file:
                _lock(file)
                with packer(file) as packed:
                    _write_parts(packed, parts)
                file.flush()
                os.fsync(file.fileno())
            if exists:
                os.chmod(draft, stat.S_IMODE(os.stat(path).st_mode))
                with contextlib.suppress(OSError, AttributeError):  # (only root may change the owner)
                    os.chown(draft, os.stat(path).st_uid, os.stat(path).st_gid)
            os.replace(draft, path)
        except BaseException:
            if os.path.exists(draft):
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


def _lock(file) -> bool:
    """Lock a draft while it is written; return False if another process has locked it, or the system has no such locks."""
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (ImportError, OSError):
        return False
    return True


def _remove_drafts(folder: str | bytes) -> None:
    """Remove the drafts of processes killed while saving: those that are a minute old and not locked."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder or "."):
            if os.fsdecode(name).startswith(_DRAFT):
                draft = os.path.join(folder, name)
                with open(draft, "rb") as file:
                    if time.time() - os.fstat(file.fileno()).st_mtime > 60.0 and _lock(file):
                        os.unlink(draft)


class _Header(NamedTuple):
    model: str
    tensors: dict[str, tuple[int, int, np.dtype, tuple]]  # begin, end, dtype, shape
    unsigned: bytes
    digest: str
    size: int  # of the whole file


def refused(path, required: str, came: str, do: str = "") -> ValueError:
    do = do or "The file is damaged, or was not written by save: take another copy of it, or save the model again."
    name = getattr(path, "name", "<stream>") if hasattr(path, "read") else os.fsdecode(path)
    return ValueError(f"onlinecls.load: {name!r} must be {required}, got {came}. {do}")


def _read_header(path, file, size: int) -> _Header:
    start = file.read(8 + len(_BEGINNING))
    length = int.from_bytes(start[:8], "little")
    if start[8:] != _BEGINNING:
        came = f"a file that begins with {start[:16]!r}" if start else "an empty file"
        raise refused(path, "a model saved by onlinecls", came)
    if not len(_BEGINNING) <= length <= size - 8:
        raise refused(path, f"of a header within its {size} bytes", f"a header of {length} bytes")
    raw = start + file.read(8 + length - len(start))
    try:
        header = json.loads(raw[8:])
        metadata = header.pop("__metadata__")
        number = int(metadata["format"].removeprefix("onlinecls "))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise refused(path, "a model saved by onlinecls", "a header that is not valid JSON") from None
    if number != FORMAT:
        from . import __version__

        raise refused(
            path, f"of format {FORMAT}, the one that onlinecls {__version__} reads", f"format {number}",
            "Load it with a newer version of onlinecls (pip install --upgrade onlinecls).",
        )
    try:
        tensors, at = {}, 0
        for name, part in header.items():
            dtype, shape, (begin, end) = _TENSORS[part["dtype"]], tuple(part["shape"]), part["data_offsets"]
            require(all(type(n) is int and n >= 0 for n in (*shape, begin, end)), "shapes and places >= 0", part)
            require(len(shape) <= 8 and math.prod(n or 1 for n in shape) < 2**59, "shapes that an array can have", part)
            require(begin == at and end - begin == math.prod(shape) * dtype.itemsize, "arrays end to end", part)
            tensors[name], at = (begin, end, dtype, shape), end
        digest = metadata["sha256"]
        require(type(digest) is str and raw.count(digest.encode()) == 1 and len(digest) == 64, "one checksum", digest)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise refused(path, "a model saved by onlinecls", f"a header with wrong arrays ({error})") from None
    return _Header(metadata.get("model"), tensors, raw.replace(digest.encode(), _UNSIGNED.encode()), digest, 8 + length + at)


def _read_data(file, header: _Header, checksum, mmap: bool) -> dict[str, np.ndarray]:
    """Read the arrays behind the header, and add every byte of them to the checksum."""
    from mmap import ACCESS_READ
    from mmap import mmap as mapped

    start, arrays = len(header.unsigned), {}
    whole = np.frombuffer(mapped(file.fileno(), 0, access=ACCESS_READ), np.uint8) if mmap else None
    for name, (begin, end, dtype, shape) in header.tensors.items():
        if mmap:
            part = whole[start + begin : start + end]
            checksum.update(part)
        else:
            part = np.empty(end - begin, np.uint8)
            for at in range(0, len(part), _CHUNK):
                chunk = part[at : at + _CHUNK]
                file.readinto(chunk)
                checksum.update(chunk)
        arrays[name] = part.view(dtype).reshape(shape).astype(dtype.newbyteorder("="), copy=False)
    return arrays


def read(path: str | bytes, mmap: bool, max_bytes: float | None = None) -> tuple[dict, dict[str, np.ndarray]]:
    """Read the description (any JSON) and the arrays of an undamaged file.

    max_bytes : most bytes of a compressed file, unpacked, or of arrays; None: the machine's memory.
    """
    most = _most_memory() if max_bytes is None else max_bytes
    file, size = _opened(path, mmap, most)
    with file:
        header = _read_header(path, file, size)
        if header.size != size:
            raise refused(path, f"of {header.size} bytes, as its header says", f"{size} bytes")
        _require_room(path, 0 if mmap else size, most)
        checksum = _sha256(header.unsigned)
        arrays = _read_data(file, header, checksum, mmap)
    if checksum.hexdigest() != header.digest:
        raise refused(path, f"a file of SHA-256 {header.digest}, as its header says", checksum.hexdigest())
    try:
        return json.loads(header.model), arrays
    except (ValueError, TypeError, RecursionError) as error:
        raise no_model(path, str(error)) from None


def no_model(path: str | bytes, problem: str) -> ValueError:
    """Return the error of an undamaged file with a model that learning cannot produce."""
    return refused(path, "a model that onlinecls could have saved", f"one that is invalid ({problem})")
