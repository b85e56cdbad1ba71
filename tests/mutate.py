"""Are the tests sharp? Each mutant here is one small mistake in the code; tests that pass with it are not.

    make mutants                            all of them, in the time of their tests
    python tests/mutate.py full.pxd line    those in files with one of these words in their path

mutants.txt has their list: a text as it stands, which occurs once in its file (checked first, so that the list cannot rot
silently), and a text instead. In a temporary copy of the tree, which has the built modules of the installed package, each module
is compiled once, without optimisation, with all its mutants: the smallest expression around a change becomes `(new if MUTANT ==
number else old)`, and the environment says which one acts. A change of a statement is compiled by itself; a file of Python is
changed as it stands. The test files that should notice are run until something fails. A survivor calls for a test, or for a
reason in the list. Exit code 1 if one survives without, or one that has a reason does not.
"""
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from resource import RLIMIT_CPU, RUSAGE_CHILDREN, getrusage, setrlimit
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DIRECTIVES = "-X boundscheck=False -X initializedcheck=False -X wraparound=False -X cdivision=True -X embedsignature=True".split()
FLAGS = "-O0 -g0 -fPIC -shared -ffp-contract=off -fno-math-errno -fno-trapping-math -w -Ionlinecls -include mutant.h".split()
FLAGS.append(f"-I{np.get_include()}")
LONGEST = 300       # seconds of the processor's time for tests of code as it stands; a mutant may well run for ever
CHOICE = """#include <stdlib.h>
static int MUTANT;
__attribute__((constructor)) static void choose(void) { MUTANT = atoi(getenv("MUTANT") ? getenv("MUTANT") : "0"); }
"""
TOKEN = r'%s|\n|"{3}.*?"{3}|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[\w.]+|[-<>=!+*/%%&|^]?=|\S'
TOKENS = {True: re.compile(TOKEN % r"/\*.*?\*/|//[^\n]*|\\\n", re.S), False: re.compile(TOKEN % r"#[^\n]*", re.S)}  # C, Python


class Mutant(NamedTuple):
    """One mistake, on line `number` of the list; reason: why nobody could see it, or ""."""

    number: int
    file: str
    module: str
    tests: tuple
    old: str
    new: str
    reason: str


def mutants(words):
    """Return the mutants of files with one of the words in their path."""
    chosen, reason = [], ""
    for number, line in enumerate((ROOT / "tests/mutants.txt").read_text().splitlines(), 1):
        if line.startswith("["):
            file, module, tests = line[1:-1].split("; ")
        elif line.startswith("= "):
            reason = line[2:]
        elif line and not line.startswith("#"):
            old, _, new = line.replace("\\n", "\n").partition(" =>")
            chosen.append(Mutant(number, file, module, tuple(tests.split(", ")), old, new[1:], reason))
            reason = ""
            if (n := (ROOT / "src/onlinecls" / file).read_text().count(old)) != 1:
                sys.exit(f"mutate.py: a mutant's text must occur once in its file; {n} times in {file}: {old!r}")
    return [mutant for mutant in chosen if not words or any(word in mutant.file for word in words)]


def tokens_of(text, is_c):
    """Return (word, begin, end, number of brackets around it) of each token, but comments and ends of lines within brackets."""
    found, depth, opening, closing = [], 0, "([" if is_c else "([{", ")]" if is_c else ")]}"
    for token in TOKENS[is_c].finditer(text):
        word = token[0]
        depth -= word in closing
        if not (word[0] == "#" or word[:2] in ("/*", "//", "\\\n") or (word == "\n" and (is_c or depth))):
            found.append((word, token.start(), token.end(), depth))
        depth += word in opening
    return found


def place_of(text, changed, is_c):
    """Return begin, end of the smallest expression that has all of the change; None if it is no change of an expression."""
    one, two = tokens_of(text, is_c), tokens_of(changed, is_c)
    alike = lambda a, b: next(i for i, (s, t) in enumerate(zip([*a, ""], [*b, ""], strict=False)) if s[:1] != t[:1])  # noqa: E731
    first = alike(one, two)
    last = len(one) - min(alike(one[::-1], two[::-1]), min(len(one), len(two)) - first)
    depth = min(*(one[at][3] + (one[at][0] in ")]") for at in (first, last)), *(token[3] for token in one[first:last]))
    ends = ";{}" if is_c else "\n"

    def is_border(at):
        word, *_, around = one[at]
        if around == depth and word in ("if", "elif", "while", "in", "for"):
            return one[at - 1][0] in ends or "for" in (token[0] for token in one[at - 4 * (word == "in"):at + 1])
        is_end = word in (ends if is_c else ",:\n") or word in (",", "return", "yield", "assert")
        is_assignment = word.endswith("=") and word not in ("==", "<=", ">=", "!=")
        return around < depth or (around == depth and (is_end or is_assignment))

    a, b = first, last
    while not is_border(a - 1):
        a -= 1
    while not is_border(b):
        b += 1
    new = tokens_of(changed[one[a][1]:one[b - 1][2] + len(changed) - len(text)], is_c) if a < b else []
    is_whole = not new or one[a - 1][0] in ends or {"pass", "continue", "break", "="} & {word for word, *_ in new}
    return None if is_whole or any(map(is_border, range(first, last))) else (one[a][1], one[b - 1][2])


def with_choice(text, chosen, is_c):
    """Return the text with all of these mutants, each acting if it is MUTANT, and the set of those that cannot be written so."""
    changed = {mutant: text.replace(mutant.old, mutant.new) for mutant in chosen}
    places = {mutant: place_of(text, changed[mutant], is_c) for mutant in chosen}
    merged = [(0, 0, [])]
    for mutant in sorted(filter(places.get, chosen), key=places.get):
        begin, end = places[mutant]
        before, others = (merged[-1][1], merged.pop()) if begin < merged[-1][1] else (end, (begin, 0, []))
        merged.append((others[0], max(end, before), [*others[2], mutant]))
    whole = text
    for begin, end, mutants_there in reversed(merged[1:]):
        made = text[begin:end]
        for mutant in mutants_there:
            new = changed[mutant][begin:end + len(mutant.new) - len(mutant.old)]
            choice = "(MUTANT == {0} ? ({1}) : ({2}))" if is_c else "(({1}) if MUTANT == {0} else ({2}))"
            made = choice.format(mutant.number, new, made)
        whole = whole[:begin] + made + whole[end:]
    head = re.match(r'(?:#[^\n]*\n|\n)*(?:""".*?"""\n)?', text, re.S).end()
    whole = whole if is_c else f"{whole[:head]}cdef extern from *:\n    int MUTANT\n{whole[head:]}"
    return whole, {mutant for mutant in chosen if not places[mutant]}


def copy_of_tree(tree):
    """The tree with the built modules of the package that this Python imports, and what chooses a mutant at run time."""
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(".*", "build", "*.so", "__pycache__", "docs", "*.egg-info"))
    import onlinecls

    package = Path(onlinecls.__file__).parent
    for path in package.rglob("*.so"):
        shutil.copy(path, tree / "src/onlinecls" / path.relative_to(package))
    (tree / "src/mutant.h").write_text(CHOICE)


def compile_module(tree, module):
    """Compile a module; return the compiler's errors, "" if there are none."""
    cython = [sys.executable, "-m", "cython", "-3", *DIRECTIVES, f"onlinecls/{module}.pyx", "-o", "mutant.c"]
    compiler = [*os.environ.get("CC", "cc").split(), *FLAGS, f"-I{sysconfig.get_paths()['include']}", "mutant.c", "-o",
                f"onlinecls/{module}{sysconfig.get_config_var('EXT_SUFFIX')}"]
    for command in (cython, compiler):
        done = subprocess.run(command, cwd=tree / "src", capture_output=True, text=True)
        if done.returncode:
            return done.stderr
    return ""


def compile_all(tree, chosen):
    """Compile each module with all of these mutants that can be chosen at run time, and return the others."""
    apart, chosen = set(), [mutant for mutant in chosen if mutant.module]
    for module in sorted({mutant.module for mutant in chosen}):
        errors = "?"
        while errors:
            for file in {mutant.file for mutant in chosen}:
                those = [mutant for mutant in chosen if mutant.file == file and mutant not in apart]
                text, others = with_choice((ROOT / "src/onlinecls" / file).read_text(), those, file.endswith(".h"))
                (tree / "src/onlinecls" / file).write_text(text)
                apart |= others
            if errors := compile_module(tree, module):
                places = re.findall(r"(?m)^([\w./]+\.(?:pyx|pxd|h|c)):(\d+):\d+: (?!note)", errors)
                lines = [(tree / "src" / file).read_text().splitlines()[int(line) - 1] for file, line in places]
                numbers = {int(number) for line in lines for number in re.findall(r"MUTANT == (\d+)", line)}
                wrong = {mutant for mutant in chosen if mutant.number in numbers} - apart
                if not wrong:
                    sys.exit(f"mutate.py: {module} does not compile with its mutants:\n{errors[-3000:]}")
                apart |= wrong
    return apart


def first_failure(tree, tests, number=0, longest=LONGEST):
    """Return the first of these tests that fails with a mutant within so many seconds of CPU, or None if all pass."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1",
                   "MUTANT": str(number)}
    path_of = lambda name: str(next((tree / "tests").glob(f"*/test_{name}.py")))  # noqa: E731
    whole = [path_of(name) for name in tests if " " not in name]
    for run in [whole] * bool(whole) + [[path_of(name.split()[0]), *name.split()[1:]] for name in tests if " " in name]:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *run]
        try:
            done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=10 * longest,
                                  preexec_fn=lambda: setrlimit(RLIMIT_CPU, (longest, longest)))
        except subprocess.TimeoutExpired:
            return f"{run}, which waits for ever"
        if done.returncode:
            failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
            return failed[0].split(" - ")[0] if failed else f"{run}, which ends with exit code {done.returncode}"
    return None


def main(words):
    chosen, survivors, wrong = mutants(words), [], []
    with tempfile.TemporaryDirectory() as room:
        tree = Path(room) / "tree"
        copy_of_tree(tree)
        apart = compile_all(tree, chosen)
        seconds = {}
        for name in sorted({name for mutant in chosen for name in mutant.tests}):
            begin = getrusage(RUSAGE_CHILDREN).ru_utime
            if failed := first_failure(tree, [name]):
                sys.exit(f"mutate.py: the tests must pass before anything is changed: {failed}")
            seconds[name] = getrusage(RUSAGE_CHILDREN).ru_utime - begin
        for at, mutant in enumerate(chosen, 1):
            begin, name = time.monotonic(), f"{mutant.file}: {mutant.old!r} -> {mutant.new!r}"
            path = tree / "src/onlinecls" / mutant.file
            built = tree / "src/onlinecls" / f"{mutant.module}{sysconfig.get_config_var('EXT_SUFFIX')}"
            text, kept = path.read_text(), built.read_bytes() if mutant in apart else b""
            if mutant in apart or not mutant.module:
                path.write_text((ROOT / "src/onlinecls" / mutant.file).read_text().replace(mutant.old, mutant.new))
            if mutant in apart and (errors := compile_module(tree, mutant.module)):
                sys.exit(f"mutate.py: {mutant.module} does not compile with {name}:\n{errors[-3000:]}")
            longest = 10 + 2 * int(sum(map(seconds.get, mutant.tests)))
            failed = first_failure(tree, mutant.tests, mutant.number, longest)
            path.write_text(text)
            if mutant in apart:
                built.write_bytes(kept)
            survivors += [name] * (not failed and not mutant.reason)
            wrong += [name] * bool(failed and mutant.reason)
            said = f"killed by {failed}" if failed else f"survived{', as it should: ' * bool(mutant.reason)}{mutant.reason}"
            print(f"{at}/{len(chosen)} ({time.monotonic() - begin:.0f} s{', compiled by itself' * (mutant in apart)}) {name}\n"
                  f"    {said}", flush=True)
    print(f"{len(chosen)} mutants, {len(survivors)} survivors, {len(wrong)} with a reason that do not")
    print(*survivors, *wrong, sep="\n")
    return 1 if survivors or wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
