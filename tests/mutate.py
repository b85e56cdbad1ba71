"""Are the tests sharp? Each mutant here is one small mistake in the code; tests that pass with it are not.

    make mutants                            all of them, a quarter of a minute each
    python tests/mutate.py full.pxd line    those in files with one of these words in their path

mutants.txt has their list: a text as it stands, which occurs once in its file (checked first, so that the list cannot rot
silently), and a text instead. The module it is in is compiled without optimisation, in a temporary copy of the tree that has the
built modules of the installed package, and the test files that should notice are run until something fails. A survivor calls for
a test, or for a reason in the list. Exit code 1 if a mutant survives without one, or if one that has a reason does not.
"""
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from itertools import zip_longest
from pathlib import Path
from resource import RLIMIT_CPU, setrlimit
from signal import SIGKILL, SIGXCPU
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DIRECTIVES = ("boundscheck=False", "initializedcheck=False", "wraparound=False", "cdivision=True", "embedsignature=True")
LONGEST = 300       # seconds of the processor's time for a test file: a mutant may well run for ever


class Mutant(NamedTuple):
    """One mistake: in `file`, part of the compiled `module` ("": Python), `old` becomes `new`; some of `tests` should fail.

    reason : why nobody could see it, or "".
    """

    file: str
    module: str
    tests: list[str]
    old: str
    new: str
    reason: str


def mutants(words):
    """Return the mutants of files with one of the words in their path, one group after the other taking its turn."""
    groups, reason = [], ""
    for line in (ROOT / "tests/mutants.txt").read_text().splitlines():
        if line.startswith("["):
            file, module, tests = line[1:-1].split("; ")
            groups.append([])
        elif line.startswith("= "):
            reason = line[2:]
        elif line and not line.startswith("#"):
            old, _, new = line.replace("\\n", "\n").partition(" =>")
            groups[-1].append(Mutant(file, module, tests.split(", "), old, new[1:], reason))
            reason = ""
    chosen = [mutant for turn in zip_longest(*groups) for mutant in turn if mutant]
    for mutant in chosen:
        if (n := (ROOT / "src/onlinecls" / mutant.file).read_text().count(mutant.old)) != 1:
            sys.exit(f"mutate.py: a mutant's text must occur once in its file; {n} times in {mutant.file}: {mutant.old!r}")
    return [mutant for mutant in chosen if not words or any(word in mutant.file for word in words)]


def copy_of_tree(tree):
    """The tree with the built modules of the package that this Python imports."""
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "build", "*.so", "__pycache__", "docs", "*.egg-info"))
    import onlinecls

    package = Path(onlinecls.__file__).parent
    for path in package.rglob("*.so"):
        shutil.copy(path, tree / "src/onlinecls" / path.relative_to(package))


def compile_module(tree, module):
    source = f"onlinecls/{module}.pyx"
    built = f"onlinecls/{module}{sysconfig.get_config_var('EXT_SUFFIX')}"
    directives = [word for directive in DIRECTIVES for word in ("-X", directive)]
    cython = [sys.executable, "-m", "cython", "-3", *directives, source, "-o", "mutant.c"]
    flags = "-O0 -g0 -fPIC -shared -ffp-contract=off -fno-math-errno -fno-trapping-math -w -Ionlinecls".split()
    compiler = [*os.environ.get("CC", "cc").split(), *flags, f"-I{sysconfig.get_paths()['include']}", "mutant.c", "-o", built]
    for command in (cython, compiler):
        done = subprocess.run(command, cwd=tree / "src", capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"mutate.py: {module} does not compile with this mutant:\n{done.stderr[-3000:]}")


def first_failure(tree, tests):
    """Return the first of these tests that fails, or None if all pass."""
    environment = {**os.environ, "PYTHONPATH": "src", "OPENBLAS_NUM_THREADS": "1"}
    for name, *options in map(str.split, tests):
        file = next((tree / "tests").glob(f"*/test_{name}.py"))
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", str(file), *options]
        try:
            done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=20 * LONGEST,
                                  preexec_fn=lambda: setrlimit(RLIMIT_CPU, (LONGEST, LONGEST)))
        except subprocess.TimeoutExpired:
            return f"test_{name}.py, which waits for ever"
        if done.returncode in (-SIGXCPU, -SIGKILL):
            return f"test_{name}.py, which runs for ever"
        if done.returncode:
            failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return failed[0].split(" - ")[0] if failed else f"test_{name}.py, which ends with exit code {done.returncode}"
    return None


def main(words):
    chosen = mutants(words)
    survivors, wrong = [], []
    with tempfile.TemporaryDirectory() as room:
        tree = Path(room) / "tree"
        copy_of_tree(tree)
        for module in sorted({mutant.module for mutant in chosen if mutant.module}):
            compile_module(tree, module)
        if failed := first_failure(tree, sorted({name for mutant in chosen for name in mutant.tests})):
            sys.exit(f"mutate.py: the tests must pass before anything is changed: {failed}")
        for number, (file, module, tests, old, new, reason) in enumerate(chosen, 1):
            begin = time.monotonic()
            path = tree / "src/onlinecls" / file
            built = tree / "src/onlinecls" / f"{module}{sysconfig.get_config_var('EXT_SUFFIX')}"
            text, kept = path.read_text(), built.read_bytes() if module else b""
            path.write_text(text.replace(old, new))
            if module:
                compile_module(tree, module)
            failed = first_failure(tree, tests)
            path.write_text(text)
            if module:
                built.write_bytes(kept)
            name = f"{file}: {old!r} -> {new!r}"
            if not failed and not reason:
                survivors.append(name)
            if reason and failed:
                wrong.append(name)
            said = f"killed by {failed}" if failed else f"survived{', as it should: ' + reason if reason else ''}"
            print(f"{number}/{len(chosen)} ({time.monotonic() - begin:.0f} s) {name}\n    {said}", flush=True)
    print(f"{len(chosen)} mutants, {len(survivors)} survivors, {len(wrong)} with a reason that do not")
    print(*survivors, *wrong, sep="\n")
    return 1 if survivors or wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
