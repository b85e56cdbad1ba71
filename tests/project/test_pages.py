"""README and docs: code runs as printed and prints what is shown, commands exist, links lead somewhere, tables are up to date.

Every page is one program, in its order, in an empty directory; it starts from what docs/tour.md makes. A ``text`` block
behind a ``python`` block is what that prints, a ``console`` block is commands (``$``) and what they print, where figures of time
are not compared; a line ``...`` stands for any lines. A ``py`` block needs what is not there, and is compiled only.
"""

import contextlib
import doctest
import importlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import onlinecls

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
START = DOCS / "tour.md"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
OPTIONAL = {"sklearn", "matplotlib", "pandas", "polars", "pyarrow", "backports", "river"}
CHECKER = doctest.OutputChecker()
SHOWN = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name_of(page):
    return str(page.relative_to(ROOT))


def every(pages):
    return pytest.mark.parametrize("page", pages, ids=name_of)


def blocks(page):
    """(language, code, line of the code's start) of every fenced block, those of lists, which are indented, too."""
    text = page.read_text(encoding="utf-8")
    return [
        (found[2], re.sub(rf"^{found[1]}", "", found[3], flags=re.MULTILINE), text[: found.start()].count("\n") + 2)
        for found in re.finditer(r"^( *)```(\w*)\n(.*?)^\1```$", text, re.DOTALL | re.MULTILINE)
    ]


def execute(code, page, line, namespace):
    """Run a block, of statements or of ``>>>``; what it printed."""
    if ">>>" not in code:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (line - 1) + code, name_of(page), "exec"), namespace)  # our own page
        return printed.getvalue()
    test = doctest.DocTestParser().get_doctest(code, namespace, name_of(page), name_of(page), line - 1)
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=SHOWN, verbose=False)
    assert not runner.run(test, out=said.write, clear_globs=False).failed, said.getvalue()
    namespace.update(test.globs)
    return ""


def start(namespace):
    """Run the first block of the tour."""
    _, code, line = next(block for block in blocks(START) if block[0] == "python")
    execute(code, START, line, namespace)


def without_times(text):
    """The output of a command with its figures of time, which differ from run to run, replaced by a dash."""
    text = re.sub(r"\d+\.\d\d s\b|\d+ MB/s", "-", text)
    text = re.sub(r"^( *[\d,]+ +)\d+\.\d\d(?= )", r"\1-", text, flags=re.MULTILINE)  # train's column of seconds
    return re.sub(r"(%  +[\d,]+ +)\d+\.\d\d(?=$| )", r"\1-", text, flags=re.MULTILINE)  # compare's


def check_console(code, page, line):
    """Every command of a console block prints what is shown below it, but for times."""
    for each in re.split(r"^(?=\$ )", code, flags=re.MULTILINE)[1:]:
        command, _, shown = each[2:].partition("\n")
        done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        shown, printed = without_times(shown), without_times(done.stdout)
        assert CHECKER.check_output(shown, printed, SHOWN), f"line {line}: {command}\nshows\n{shown}\nbut prints\n{printed}"


@pytest.fixture
def command(tmp_path, monkeypatch):
    """`onlinecls` on the path of the shell, as an installed package has it."""
    path = tmp_path / "bin" / "onlinecls"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nPYTHONPATH="{Path(onlinecls.__file__).parents[1]}" exec "{sys.executable}" -m onlinecls "$@"\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(path.parent), prepend=os.pathsep)


def run_page(page, found):
    """Run blocks of a page as one program."""
    namespace = {"__name__": "__main__"}
    if page != START:
        start(namespace)
    for i, (language, code, line) in enumerate(found):
        if language == "python":
            printed = execute(code, page, line, namespace)
            if found[i + 1 : i + 2] and found[i + 1][0] == "text":
                shown = found[i + 1][1]
                assert CHECKER.check_output(shown, printed, SHOWN), f"line {line} shows\n{shown}but prints\n{printed}"
        elif language == "console" and os.name == "posix":
            check_console(code, page, line)


WITH_CODE = [page for page in PAGES if {"python", "console"} & {language for language, _, _ in blocks(page)}]


@every(WITH_CODE)
def test_code_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    try:
        run_page(page, blocks(page))
    except ImportError as error:
        if (error.name or "").split(".")[0] not in OPTIONAL and "onlinecls[" not in str(error):
            raise
        pytest.skip(str(error))


def commands(page):
    """Every `onlinecls` and `make` of a page, in ``sh`` and ``console`` blocks and in running text, without pipes and loops."""
    text = page.read_text(encoding="utf-8")
    lines = [line.removeprefix("$ ") for language, code, _ in blocks(page) for line in code.splitlines()
             if language == "sh" or (language == "console" and line.startswith("$ "))]
    running = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    lines += [code for code in re.findall(r"`([^`]+)`", running) if not re.fullmatch(r"onlinecls \w+", code)]
    for line in lines:
        for part in re.split(r"\|\|?|&&|;|>", line.replace("\n", " ")):
            if re.match(r" *(onlinecls|make) ", part) and not re.search(r"\bCOMMAND\b|\bFILE\b|\[-", part):
                yield shlex.split(part, comments=True)


@every([page for page in PAGES if any(commands(page))])
def test_commands_and_options_named_in_a_page_exist(page, tmp_path, monkeypatch, run):
    monkeypatch.chdir(tmp_path)  # an empty directory: a command that is understood ends at its missing file
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command, *arguments in commands(page):
        if command == "onlinecls":
            code, _, said = run(*arguments)
            assert code != 2, f"onlinecls {arguments}: {said}"
        for target in (a for a in arguments if command == "make" and "=" not in a):
            assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE), f"make {target}"


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


@every(PAGES)
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"https?:", target):
            path, _, anchor = target.partition("#")
            there = (page.parent / path) if path else page
            assert there.exists() or path == "api.rst", target  # (docs/conf.py writes it)
            if anchor:
                headings = re.findall(r"^#+ (.*)", there.read_text(encoding="utf-8"), re.MULTILINE)
                assert anchor in map(slug, headings), target
    for target in re.findall(r"`((?:docs|benchmarks|examples|tests|src)/[\w./]+)`", text):
        assert (ROOT / target).exists(), target


def test_tables_that_follow_from_others_are_up_to_date(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks" / "scripts"))
    pages = importlib.import_module("pages")
    for path, name, make in pages.DERIVED:
        assert pages.between(path, name)[1] == make(), f"run python benchmarks/scripts/pages.py: {name_of(path)} has an old table"
