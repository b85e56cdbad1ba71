#!/usr/bin/env -S uv run --script

# /// script
# dependencies = ["nox>=2025.2.9"]
# ///

"""The tasks of the Makefile for those who have nox (`nox`, `nox -s docs`); each has an environment of its own."""

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests."""
    session.install(".[test,river]")
    session.run("python", "-m", "pytest", "-n", "2", *session.posargs, env={"OPENBLAS_NUM_THREADS": "1"})


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types and spelling."""
    session.install(".[lint]")
    session.run("ruff", "check", ".")
    session.run("mypy")
    session.run("codespell", "src", "tests", "benchmarks", "examples", "docs")
    session.run("python", "tests/docstrings.py")


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site in docs/_build/html."""
    session.install(".[docs,demo]")
    session.run("python", "-m", "sphinx", "-b", "html", "-W", "-n", "-q", "docs", "docs/_build/html")


if __name__ == "__main__":
    nox.main()
