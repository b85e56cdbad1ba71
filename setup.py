"""Builds the one extension module; everything else about the package is in pyproject.toml.

``ONLINECLS_DEBUG=1`` turns bounds checks on. The flags are those that any machine's wheel can carry: no -march=native,
no -ffast-math (NaN checks must mean something), no fused multiply-add (the same bits with and without one).
"""

import os
import sys

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
FLAGS = [] if sys.platform == "win32" else ["-O3", "-ffp-contract=off"]

core = Extension(
    "onlinecls._core",
    ["src/onlinecls/_core.pyx"],
    depends=["src/onlinecls/_linalg.pxd", "src/onlinecls/_rules.pxd"],
    extra_compile_args=FLAGS,
)

setup(ext_modules=cythonize([core], compiler_directives=DIRECTIVES, force=True))
