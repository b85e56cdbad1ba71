"""make fuzz-guided, or

    PYTHONPATH=tests LD_PRELOAD=... python -m fuzz.guided TARGET FOLDER [-max_total_time=300] [other options of libFuzzer]

Files that libFuzzer (in atheris) changes as long as they reach code that none has reached before, in Python and in the compiled
modules, which clang has prepared for it (`ONLINECLS_SANITIZE=fuzzer`). FOLDER keeps these files for the next run; it begins with
cases of the target. The first four bytes of a case are the seed of its options, the others its file. A finding is written into
the present folder: give it in place of FOLDER to run it again.
"""

import sys
import warnings
import zlib
from pathlib import Path

import atheris
import numpy as np

with atheris.instrument_imports(include=["onlinecls"]):
    from fuzz import models, texts

TARGETS = {"texts": texts, "models": models}
N_FIRST = 100  # cases that an empty folder gets


def made(target, seed):
    """Return the options and the file of a seed."""
    return target.make(np.random.default_rng([zlib.crc32(target.__name__.encode()), int.from_bytes(seed, "little")]))


def signed(data):
    """Return the file of a model with a right checksum, so that a changed one is read further."""
    try:
        return models.signed(*models.parts_of(data))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, MemoryError):
        return data


def main(name, folder, *options):
    target = TARGETS[name]

    def check(data):
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            if target is models:
                target.check(({"kind": "forged"}, signed(data[4:])))
            else:
                target.check((made(target, data[:4])[0], data[4:]))

    if not Path(folder).is_file():
        Path(folder).mkdir(parents=True, exist_ok=True)
        for number in range(0 if any(Path(folder).iterdir()) else N_FIRST):
            seed = number.to_bytes(4, "little")
            Path(folder, f"first-{number}").write_bytes(seed + made(target, seed)[1])
    atheris.Setup([sys.argv[0], folder, "-max_len=20000", "-timeout=300", "-rss_limit_mb=8192", *options], check)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
