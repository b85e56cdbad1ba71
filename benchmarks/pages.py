"""Where measured figures go: between two marker lines of README.md or of a page of docs, and nowhere else."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"


def markers(name):
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"


def write_readme(name, text):
    write_between(README, name, text)


def write_between(path, name, text):
    """Replace what stands between the markers of that name."""
    page = path.read_text(encoding="utf-8")
    begin, end = markers(name)
    if page.count(begin) != 1 or page.count(end) != 1:
        raise SystemExit(f"{path.name} must hold the lines {begin} and {end} once each; nothing was written")
    head, rest = page.split(begin)
    tail = rest.split(end)[1]
    path.write_text(f"{head}{begin}\n{text}\n{end}{tail}", encoding="utf-8")
