"""Builds the extension modules, one for each .pyx; everything else about the package is in pyproject.toml.

``ONLINECLS_DEBUG=1`` turns bounds checks on. The flags are those that any machine's wheel can carry: no -march=native,
no -ffast-math (NaN checks must mean something), no fused multiply-add (the same bits with and without one).
"""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

DEBUG = os.environ.get("ONLINECLS_DEBUG") == "1"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": DEBUG,
    "initializedcheck": DEBUG,
    "wraparound": False,
    "cdivision": True,
    "embedsignature": True,
}
GNU = sys.platform != "win32"
# Debug information takes half of the compiler's time and nine tenths of the files' size. No number depends on the last two: they
# say that nobody reads errno, or catches a trap, of a square root.
FLAGS = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"] if GNU else []
# The loops over a row are too large for the compiler to inline them by itself: short rows would take a third longer.
MACROS = [("CYTHON_INLINE", "__inline__ __attribute__((__always_inline__))")] if GNU and not DEBUG else []

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
    )
    for path in MODULES
]

setup(
    ext_modules=cythonize(
        extensions,
        compiler_directives=DIRECTIVES,
        build_dir=f"build/cython{'-debug' * DEBUG}",  # the C files: a release is never built from those with bounds checks
        nthreads=os.cpu_count(),
    ),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
