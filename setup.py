"""Builds the extension modules, one for each .pyx; everything else about the package is in pyproject.toml.

``ONLINECLS_DEBUG=1`` turns bounds checks on. ``ONLINECLS_SANITIZE=1`` compiles for gcc's AddressSanitizer and
UndefinedBehaviorSanitizer, ``ONLINECLS_SANITIZE=thread`` for its ThreadSanitizer: their library must then be loaded before
Python's own (see `make sanitize`). The flags of a release are those that any machine's wheel can carry: no -march=native, no
-ffast-math (NaN checks must mean something), no fused multiply-add (the same bits with and without one).
"""

import os
import re
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("ONLINECLS_DEBUG") == "1"
SANITIZER = os.environ.get("ONLINECLS_SANITIZE", "")
SANITIZE = {"": [], "1": ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"],
            "thread": ["-fsanitize=thread"]}[SANITIZER]
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "initializedcheck": DEBUG,
    "wraparound": False,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,  # (a model that learns has a lock of its own; see docs/scale.md)
}
GNU = sys.platform != "win32"
# Debug information takes half of the compiler's time and nine tenths of the files' size. No number depends on the last two: they
# say that nobody reads errno, or catches a trap, of a square root.
FLAGS = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"] if GNU else []
if SANITIZE:
    FLAGS = [*FLAGS, "-O1", "-g1", "-fno-omit-frame-pointer", *SANITIZE]
# The loops over a row are too large for the compiler to inline them by itself: short rows would take a third longer.
MACROS = [("CYTHON_INLINE", "__inline__ __attribute__((__always_inline__))")] if GNU and not (DEBUG or SANITIZE) else []

# A folder for each kind of build: what one has made is never taken for another's.
BUILD = f"build/{'debug' if DEBUG else 'release'}" + {"": "", "1": "-sanitize", "thread": "-sanitize-thread"}[SANITIZER]

SOURCES = Path("src/onlinecls")
HEADERS = [str(path) for pattern in ("*.pxd", "*.h") for path in sorted(SOURCES.rglob(pattern))]
# The largest first: the compiler works on several at a time, and the last one should be short.
MODULES = sorted(SOURCES.rglob("*.pyx"), key=lambda path: -path.stat().st_size)

extensions = [
    Extension(
        ".".join(path.relative_to("src").with_suffix("").parts),
        [str(path)],
        depends=HEADERS,
        include_dirs=[str(SOURCES)],
        define_macros=MACROS,
        extra_compile_args=FLAGS,
        extra_link_args=SANITIZE,
    )
    for path in MODULES
]

# On PyPI the README stands alone: links and pictures lead to the repository.
PROJECT = "https://github.com/onlinecls/onlinecls"
README = Path("README.md").read_text(encoding="utf-8")
README = re.sub(r"!\[([^]]*)\]\((?!https?:)([^)]+)\)", rf"![\1]({PROJECT}/raw/main/\2)", README)
README = re.sub(r"\]\((?!https?:|#)([^)]+)\)", rf"]({PROJECT}/blob/main/\1)", README)

setup(
    long_description=README,
    long_description_content_type="text/markdown",
    ext_modules=cythonize(
        extensions,
        compiler_directives=DIRECTIVES,
        build_dir=f"{BUILD}/cython",
        nthreads=os.cpu_count(),
    ),
    options={"build": {"build_base": BUILD}, "build_ext": {"parallel": os.cpu_count()}},
)
