"""The gallery: every example has a number, a heading and a text, and its notebook runs.

`make docs` runs all of them as programs, and fails where one does.
"""

import ast
import re
from pathlib import Path

import pytest

GALLERY = Path(__file__).resolve().parents[2] / "examples" / "gallery"
EXAMPLES = sorted(GALLERY.glob("*.py"))
MAY_IMPORT = {"matplotlib", "numpy", "onlinecls", "pandas", "scipy", "sklearn", "warnings"}  # what the extra "docs" brings


def test_examples_are_numbered_without_gaps():
    numbers = [re.fullmatch(r"plot_(\d\d)_[a-z_]+\.py", each.name) for each in EXAMPLES]
    assert [found and int(found[1]) for found in numbers] == [*range(1, len(EXAMPLES) + 1)], [each.name for each in EXAMPLES]
    assert len(EXAMPLES) >= 14


def test_every_example_compiles_and_says_what_it_shows():
    for path in EXAMPLES:
        tree = ast.parse(path.read_text(encoding="utf-8"), path.name)
        heading, line, nothing, *text = ast.get_docstring(tree).split("\n")
        assert line == "=" * len(heading) and not nothing, f"{path.name}: a heading, underlined, and an empty line"
        sentences = re.findall(r"[.!?](?= |$)", " ".join(text))
        assert 2 <= len(sentences) <= 6, f"{path.name}: two to six sentences, got {len(sentences)}"
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
        imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert {name.split(".")[0] for name in imported} <= MAY_IMPORT, path.name


def test_every_example_is_linked_from_a_page():
    pages = "".join(page.read_text(encoding="utf-8") for page in (GALLERY.parents[1] / "docs").glob("*.md"))
    assert set(re.findall(r"examples/gallery/(\w+)\.py", pages)) == {each.stem for each in EXAMPLES}


def notebook_of(path):
    """Convert an example as the site does."""
    from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
    from sphinx_gallery.notebook import jupyter_notebook
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    _, blocks = split_code_and_text_blocks(path)
    return jupyter_notebook(blocks, DEFAULT_GALLERY_CONF, str(path.parent))


@pytest.mark.parametrize("name", [each.stem for each in EXAMPLES])
def test_the_notebook_runs_and_draws(name, monkeypatch):
    pytest.importorskip("sphinx_gallery", reason="sphinx-gallery is not installed: the extra 'docs' has it")
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: the extra 'plot' has it")
    matplotlib.use("Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    shown = []

    def show():
        for number in plt.get_fignums():
            plt.figure(number).canvas.draw()
            shown.append(number)

    monkeypatch.setattr(plt, "show", show)
    cells = notebook_of(GALLERY / f"{name}.py")["cells"]
    assert cells[0]["cell_type"] == "markdown" and "".join(cells[0]["source"]).lstrip().startswith("# ")
    namespace = {"__name__": "__main__"}
    try:
        with matplotlib.rc_context():
            for i, cell in enumerate(cells):
                if cell["cell_type"] == "code":
                    exec(compile("".join(cell["source"]), f"{name}, cell {i}", "exec"), namespace)
    finally:
        plt.close("all")
    assert shown, f"{name} shows no picture"
