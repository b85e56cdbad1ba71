"""The gallery: examples are numbered, import what the extra "docs" brings, and a page leads to each. `make docs` runs them."""

import ast
import re
from pathlib import Path

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
EXAMPLES = sorted(GALLERY.glob("*.py"))
MAY_IMPORT = {"matplotlib", "numpy", "onlinecls", "pandas", "scipy", "sklearn", "warnings"}


def test_examples_are_numbered_and_import_what_there_is():
    assert [re.match(r"plot_(\d\d)_", each.name)[1] for each in EXAMPLES] == [f"{k:02}" for k in range(1, len(EXAMPLES) + 1)]
    for path in EXAMPLES:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"), path.name)))
        imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
        assert {name.split(".")[0] for name in imported} <= MAY_IMPORT, path.name


def test_every_example_is_linked_from_a_page():
    pages = "".join(page.read_text(encoding="utf-8") for page in (GALLERY.parents[1] / "docs").glob("*.md"))
    assert set(re.findall(r"examples/gallery/(\w+)\.py", pages)) == {each.stem for each in EXAMPLES}
