"""Builds the extension modules, one for each .pyx; everything else about the package is in pyproject.toml.

``ONLINECLS_DEBUG=1`` turns bounds checks on. ``ONLINECLS_SANITIZE=1`` compiles for gcc's AddressSanitizer and
UndefinedBehaviorSanitizer, ``ONLINECLS_SANITIZE=thread`` for its ThreadSanitizer: their library must then be loaded before
Python's own (see `make sanitize`).
``ONLINECLS_PORTABLE=1`` takes the plain C that machines without SSE2 get. The flags of a release are those that any machine's
wheel can carry: no -march=native, no -ffast-math (NaN checks must mean something), no fused multiply-add (the same bits with and
without one).
"""

import os
import re
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG = os.environ.get("ONLINECLS_DEBUG") == "1"
SANITIZER = os.environ.get("ONLINECLS_SANITIZE", "")
SANITIZE = {"": [], "1": ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"],
            "thread": ["-fsanitize=thread"]}[SANITIZER]
PORTABLE = os.environ.get("ONLINECLS_PORTABLE") == "1"
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
# say that nobody reads errno, or catches a trap, of a square root. Functions begin at a cache line: where they lie in a file
# changed a pass by a fifth.
FLAGS = ["-O3", "-g0", "-falign-functions=64", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"] if GNU else []
if SANITIZE:
    FLAGS = [*FLAGS, "-O1", "-g1", "-fno-omit-frame-pointer", *SANITIZE]
# The loops over a row are too large for the compiler to inline them by itself: short rows would take a third longer.
MACROS = [("CYTHON_INLINE", "__inline__ __attribute__((__always_inline__))")] if GNU and not (DEBUG or SANITIZE) else []
MACROS = [*MACROS, ("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")]
if PORTABLE:
    MACROS = [*MACROS, ("ONLINECLS_PORTABLE", None)]

# A folder for each kind of build: what one has made is never taken for another's.
BUILD = "build/debug" if DEBUG else "build/release"
BUILD += "-portable" * PORTABLE + {"": "", "1": "-sanitize"}.get(SANITIZER, f"-sanitize-{SANITIZER}")

SOURCES = Path("src/onlinecls")
HEADERS = [str(path) for path in sorted(SOURCES.rglob("*.h"))]  # (Cython knows what each module needs of .pxd and .pxi)
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
# Cython's own code that all modules need (typed memoryviews, functions), which would take half of the time, is one module.
SHARED = "onlinecls._cyutility"
extensions.append(Extension(SHARED, [f"{SOURCES}/_cyutility.c"], extra_compile_args=FLAGS, extra_link_args=SANITIZE))


def require_machine() -> None:
    """Say in one line what is missing to compile, before pages of what was done without it."""
    if sys.byteorder != "little":
        sys.exit("onlinecls: a little-endian machine is required (its hashing and its model files are), got a big-endian one.")
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    header = Path(sysconfig.get_path("include"), "Python.h")
    if GNU and not (shutil.which(compiler) and header.exists()):
        sys.exit(f"onlinecls: a C compiler ({compiler!r}) and Python's headers ({header}) are required to install from source. "
                 "Install them (Debian: apt-get install gcc python3-dev; macOS: xcode-select --install), or set CC.")


class Build(build_ext):
    """Translate, then compile. Commands that do neither (sdist, metadata) need not wait for it."""

    def run(self):
        import numpy as np
        from Cython.Build import cythonize

        for extension in self.extensions:
            extension.include_dirs.append(np.get_include())
        folder = f"{BUILD}/cython"
        translated = cythonize(
            self.extensions, compiler_directives=DIRECTIVES, build_dir=folder, nthreads=os.cpu_count(),
            shared_utility_qualified_name=SHARED,
        )
        sources = {extension.name: extension.sources for extension in translated}
        for extension in self.extensions:
            extension.sources = sources[extension.name]
        super().run()


# On PyPI the README stands alone: links and pictures lead to the repository.
PROJECT = "https://github.com/onlinecls/onlinecls"
README = Path("README.md").read_text(encoding="utf-8")
README = re.sub(r"!\[([^]]*)\]\((?!https?:)([^)]+)\)", rf"![\1]({PROJECT}/raw/main/\2)", README)
README = re.sub(r"\]\((?!https?:|#)([^)]+)\)", rf"]({PROJECT}/blob/main/\1)", README)

if {"build", "build_ext", "bdist_wheel", "editable_wheel", "develop", "install"} & set(sys.argv):
    require_machine()
setup(
    long_description=README,
    long_description_content_type="text/markdown",
    ext_modules=extensions,
    cmdclass={"build_ext": Build},
    options={"build": {"build_base": BUILD}, "build_ext": {"parallel": os.cpu_count()}},
)
