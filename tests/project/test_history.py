"""The stored results of asv are of this repository's commits and name no machine; its pages load nothing from elsewhere."""

import importlib
import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STORED = sorted((ROOT / "benchmarks" / "results").glob("*/*.json"))


@pytest.fixture
def history(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return importlib.import_module("history")


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="needs the repository")
def test_results_are_of_commits_of_this_history():
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()

    if git("rev-parse", "--is-shallow-repository") == "true":
        pytest.skip("a shallow clone")
    known = git("rev-list", "--first-parent", "HEAD").split()
    for path in STORED:
        if path.stem != "machine":
            result = json.loads(path.read_text(encoding="utf-8"))
            assert result["commit_hash"] in known and result["commit_hash"].startswith(path.stem), path.name


def test_results_do_not_tell_where_they_were_measured():
    assert len(STORED) > 3
    for path in STORED:
        assert re.fullmatch(r"\d+-cores-\w+", path.parent.name), path
        about = json.loads(path.read_text(encoding="utf-8"))
        told = about.get("params", about)
        assert (told["machine"], told["cpu"], told["ram"]) == (path.parent.name, "", ""), path.name
        assert not re.search(r"/(home|root|usr|work|tmp|opt)|\\\\", path.read_text(encoding="utf-8")), path.name


def test_pages_of_asv_load_their_scripts_from_beside_them(history, tmp_path):
    page = tmp_path / "index.html"
    more = 'crossorigin="anonymous" onerror="js_load_failure()"'
    page.write_text(f'<script src="https://cdn.org/jquery-3.3.1.min.js" integrity="sha256-x" {more}></script>')
    history.offline(page)
    assert page.read_text() == '<script src="jquery.js" onerror="js_load_failure()"></script>'
    assert (tmp_path / "jquery.js").stat().st_size > 10_000
    page.write_text(f'<script src="https://cdn.org/other.min.js" integrity="sha256-x" {more}></script>')
    with pytest.raises(SystemExit, match="other"):
        history.offline(page)


def test_without_a_repository_the_history_is_left_out(history, tmp_path, monkeypatch):
    monkeypatch.setattr(history, "ROOT", tmp_path)
    assert "repository" in history.publish(tmp_path / "asv")
    assert not (tmp_path / "asv").exists()
