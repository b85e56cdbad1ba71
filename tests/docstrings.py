"""Lists docstrings that begin as fragments: `python tests/docstrings.py` prints file:line of each and fails if there is one.

Outside of tests, the docstring of a function that is not a property begins with a verb in the imperative.
"""

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "benchmarks", "examples", "tests")
OPENERS = re.compile(
    r"(What|Whether|Of|The same|As|Those|That|Where|Which|Who|Whose|Whoever|How|For|In|From|By|Like)\b"
)
# A capitalised word, but no article, preposition, number, participle, plural or genitive.
NOUNS = r"A|An|The|At|On|Over|With|No|None|One|Two|Each|Mean|True|False|\w+ed|\w+ing"
VERB = re.compile(rf"(?!({NOUNS})\b)[A-Z][a-z]*([a-rt-z]|ss)\b(?!')")
HEADER = r"(?:cp?def|def|class)\b"
CYTHON = re.compile(
    rf'((?:^ *@[^\n]*\n)*)^ *({HEADER}(?:(?!^ *{HEADER})[^"])*?):\n\s*r?"""(.*?)"""', re.MULTILINE | re.DOTALL
)


def docstrings(path: Path):
    """Yield (line, text, True unless of a class or property) of the docstring of each function and class."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        for found in CYTHON.finditer(text):
            is_function = "class " not in found[2].split("(")[0] and "property" not in found[1]
            yield text.count("\n", 0, found.start(3)) + 1, found[3], is_function
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            is_property = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
            yield node.body[0].lineno, ast.get_docstring(node), isinstance(node, ast.FunctionDef) and not is_property


def fragments() -> list[str]:
    """Return "file:line: first line" of each docstring that begins as a fragment."""
    found = []
    for path in sorted(path for folder in FOLDERS for end in ("py", "pyx", "pxd") for path in (ROOT / folder).rglob(f"*.{end}")):
        place = path.relative_to(ROOT)
        for line, text, is_function in docstrings(path):
            start = next(iter(text.strip().splitlines()), "")
            if OPENERS.match(start) or (is_function and place.parts[0] != "tests" and start and not VERB.match(start)):
                found.append(f"{place}:{line}: {start}")
    return found


if __name__ == "__main__":
    print(*(lines := fragments()), sep="\n")
    sys.exit(bool(lines))
