"""Sphinx's configuration: `make docs` builds the site into docs/_build/html, and needs no network.

The pages are plain Markdown that reads well in any viewer of the repository; what only Sphinx needs is done here.
"""

import html
import importlib
import importlib.util
import re
import sys
import textwrap
from pathlib import Path

import matplotlib.pyplot as plt
from docutils import nodes
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

import onlinecls

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path.insert(0, str(DOCS))

import public  # noqa: E402

project = "onlinecls"
author = "The developers of onlinecls"
version = release = onlinecls.__version__
html_title = "onlinecls"

extensions = [
    "myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc", "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "auto_examples/*.ipynb", "auto_examples/*.py", "auto_examples/*.md5"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", r"(numpy|scipy|sklearn|pandas|pyarrow|river|matplotlib|collections|os|typing|types)\..*")]

templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]

# The reference: every public name, with the members that its class documents.
autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
numpydoc_xref_param_type = False
default_role = "code"

# MathJax as one file with its glyphs inside, from a package (extra "docs"); importing it would change other settings.
_mathjax = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax" / "tex-svg.js"
mathjax_path = _mathjax.name
html_static_path = ["_static", str(_mathjax)]

html_theme = "pydata_sphinx_theme"
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "show_toc_level": 2,
    "navbar_center": [],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navbar_align": "left",
}
html_sidebars = {"index": [], "**": ["toc.html"]}
copyright = "the developers of onlinecls, BSD-3-Clause"


def _scrape(block, variables, conf):
    """Save what a cell has drawn; an animation as a moving picture, which needs neither a script nor an icon font."""
    moving, heading = variables["example_globals"].get("animation"), Path(variables["src_file"]).read_text("utf-8").split("\n")[1]
    if moving is None:
        return re.sub(r":alt: .*", f":alt: {heading}", matplotlib_scraper(block, variables, conf))
    path = Path(next(variables["image_path_iterator"])).with_suffix(".webp")
    moving.save(path, writer="pillow", dpi=90)
    plt.close("all")
    return figure_rst([path], conf["src_dir"], heading)


sphinx_gallery_conf = {
    "image_scrapers": (_scrape,),
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "auto_examples",
    "doc_module": "onlinecls",
    "backreferences_dir": "generated/examples",  # the pages of classes show the examples that use them
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "within_subsection_order": "FileNameSortKey",
    "image_srcset": ["2x"],
}

# Files of the repository that the page of the project shows.
BORROWED = ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")


def _read_source(app, docname, source):
    """Show those files on the page of the project, and lead links to where files are on the site."""
    text = source[0]
    if docname == "project":
        files = "\n\n".join((ROOT / file).read_text(encoding="utf-8") for file in BORROWED)
        text += "\n" + re.sub(r"^#", "##", files, flags=re.MULTILINE).replace("](docs/", "](")
    text = re.sub(rf"\]\((?:\.\./)?(?:{'|'.join(map(re.escape, BORROWED))})", "](project.md", text)
    text = re.sub(r"\]\((?:\.\./)?README.md", "](index.md", text)
    text = re.sub(r"\]\(\.\./examples/gallery(?:/(\w+)\.py)?\)", lambda each: f"](auto_examples/{each[1] or 'index'}.rst)", text)
    source[0] = text


def _write_reference():
    """Write docs/api.rst, which lists every public name; autosummary makes a page of each."""
    text = ["Reference", "=========", "", "Every public name. Learners follow scikit-learn's conventions: ``fit``,",
            "``partial_fit``, ``predict``, ``score``, ``get_params``, ``clone``.", ""]
    for title, module, found in public.sections():
        text += [title, "-" * len(title), "", f".. currentmodule:: {module}", "", ".. autosummary::", "   :toctree: generated",
                 "   :nosignatures:", "", *(f"   {name}" for name in found), ""]
    page = DOCS / "api.rst"
    if not page.exists() or page.read_text(encoding="utf-8") != "\n".join(text):
        page.write_text("\n".join(text), encoding="utf-8")


_write_reference()


def _process_docstring(app, what, name, obj, options, lines):
    """Before numpydoc takes a docstring apart: indented paragraphs of its text are equations, shown as they stand."""
    text, out = True, []
    for i, line in enumerate(lines):
        if i + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[i + 1]):
            text = line == "Notes"
        if text and re.match(r" {4}", line) and i and not lines[i - 1].strip():
            out += [".. code-block:: text", ""]
        out.append(re.sub(r"(?<=, )\*\*(?=\w+ :)", r"\\*\\*", line))
    lines[:] = out


MARKUP = re.compile(r"\\?(\||(?<=\w)_(?!\w)|(?<=\d)\*\*(?=[\d-]))")


def _escape_docstring(app, what, name, obj, options, lines):
    """After it: bars and final underscores are mathematics and attributes here, never reStructuredText's."""
    literal = False
    for i, line in enumerate(lines):
        literal = line.startswith(".. code-block::") or (literal and line[:1] in ("", " "))
        if not literal and not line.lstrip().startswith((">>>", ".. ")):
            parts = re.split(r"(``.*?``|`.*?`_?)", line)
            parts[::2] = [MARKUP.sub(lambda found: re.sub(r"(.)", r"\\\1", found[1]), each) for each in parts[::2]]
            lines[i] = "".join(parts)


# Pages with tables too wide for a list of sections beside them; the gallery's programs need the room, too, and have no sections.
WIDE = re.compile("accuracy|algorithms|auto_examples/plot_.*")


def _prepare_page(app, pagename, templatename, context, doctree):
    """Describe a page to search engines by its first paragraph, and make room on a wide one."""
    paragraphs = doctree.findall(nodes.paragraph) if doctree else ()
    first = next((each for each in paragraphs if not isinstance(each.parent, nodes.note)), None)
    if first and 'name="description"' not in context["metatags"]:
        text = html.escape(textwrap.shorten(first.astext(), 200, placeholder=" …"))
        context["metatags"] += f'<meta name="description" content="{text}">'
    if WIDE.fullmatch(pagename):
        context["meta"] = {**(context["meta"] or {}), "html_theme.sidebar_secondary.remove": True}


def setup(app):
    app.connect("html-page-context", _prepare_page)
    app.connect("source-read", _read_source)
    app.connect("autodoc-process-docstring", _process_docstring, priority=400)
    app.connect("autodoc-process-docstring", _escape_docstring, priority=600)
