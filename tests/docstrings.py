"""Lists docstrings that begin as fragments: `python tests/docstrings.py` prints file:line of each and fails if there is one."""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "benchmarks", "examples", "tests")
OPENERS = re.compile(
    r"(What|Whether|Of|The same|As|Those|That|Where|Which|Who|Whose|Whoever|How|For|In|From|By|Like)\b"
)


def docstrings(path: Path):
    """Yield (line, text) of the docstring of each function and class."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".pyx":
        for found in re.finditer(r'^ *(?:cp?def|def|class)\b[^"]*?:\n\s*r?"""(.*?)"""', text, re.MULTILINE | re.DOTALL):
            yield text.count("\n", 0, found.start(1)) + 1, found[1]
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            yield node.body[0].lineno, ast.get_docstring(node)


def fragments() -> list[str]:
    """Return "file:line: first line" of each docstring that begins as a fragment."""
    found = []
    for path in sorted(path for folder in FOLDERS for ending in ("py", "pyx") for path in (ROOT / folder).rglob(f"*.{ending}")):
        starts = ((line, text.strip().splitlines()[0]) for line, text in docstrings(path) if text.strip())
        found += [f"{path.relative_to(ROOT)}:{line}: {start}" for line, start in starts if OPENERS.match(start)]
    return found


if __name__ == "__main__":
    print(*(lines := fragments()), sep="\n")
    sys.exit(bool(lines))
