"""The layout of the package: which part may import which."""

import ast
import re
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import recipe
from mutate import mutants

from onlinecls._registry import WINGS

ROOT = Path(__file__).resolve().parents[2] / "src" / "onlinecls"  # (an installed package has no .pyx)

# A part may import from those before it and from its own folder. A folder is whole on one floor.
PARTS = """
_rules.* _rows.* _compiled/* _core.* _files.py _input/* _models.py _registry.py _estimators/*
_wings/shared/* _wings/adagrad/* _wings/normalised/* _wings/dual_ascent/* _wings/kernels/*
_wings/online_to_batch/* _wings/committee/* _wings/__init__.py
_hashing/* text/* tables/* _pipeline.py streams/* parallel.py datasets/* reference/* measures.py evaluation.py plotting.py
bounds.py river.py __init__.py _cli/* __main__.py
""".split()
CORE = 1 + PARTS.index("_estimators/*")


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in ("_asdict", "_replace")  # (of named tuples)


def sources() -> list[PurePosixPath]:
    return sorted(PurePosixPath(path.relative_to(ROOT)) for ending in ("py", "pyx", "pxd") for path in ROOT.rglob(f"*.{ending}"))


def part_of(path: PurePosixPath) -> int:
    found = next((number for number, pattern in enumerate(PARTS) if fnmatchcase(str(path), pattern)), None)
    assert found is not None, f"{path} belongs to no part: give it one in PARTS"
    return found


def statements(path: PurePosixPath):
    """(dotted module, imported name or "", whether it is cimported) of each import; what only type checkers read is none."""
    text = re.sub(r"(?m)^if TYPE_CHECKING:\n(?:(?: .*)?\n)+", "", (ROOT / path).read_text(encoding="utf-8"))
    if path.suffix == ".py":
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                yield from (("." * node.level + (node.module or ""), alias.name, False) for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from ((alias.name, "", False) for alias in node.names)
        return
    for module, how, names in re.findall(r"^[ ]*from +([\w.]+) +(c?import) +(\([^)]*\)|[^\n]*)", text, re.MULTILINE):
        names = re.sub(r"#[^\n]*|\bas +\w+", "", names)
        yield from ((module, name, how == "cimport") for name in re.findall(r"\w+", names))


def imports():
    """(file, file it imports from, name) of each import of a part of the package in another folder or in the root."""
    for path in sources():
        for module, name, cimported in statements(path):
            names, level = [each for each in module.split(".") if each], len(module) - len(module.lstrip("."))
            if level == 0 and names[0] != ROOT.name:
                continue
            folder = PurePosixPath(*path.parts[: len(path.parts) - level]) if level else PurePosixPath()
            place = folder.joinpath(*(names if level else names[1:]))
            endings = ("pxd", "pyx") if cimported else ("py", "pyx")
            files = [PurePosixPath(f"{each}.{ending}") for each in (place / name, place) if each.name for ending in endings]
            files += [place / name / "__init__.py", place / "__init__.py"]
            target = next((file for file in files if (ROOT / file).is_file()), None)
            assert target is not None, f"{path}: no file has {name!r} of {module!r}"
            if path.parent == PurePosixPath() or target.parent != path.parent:
                yield path, target, name


def test_imports_run_one_way_and_in_no_circle_and_take_nothing_private():
    """Folders form no circle, with compiled files (.pxd, .pyx) counted; no file of the core imports a wing, which the registry
    lists; what begins with an underscore is its folder's own."""
    arrows, root = {}, PurePosixPath()
    for path, target, name in imports():
        assert part_of(target) <= part_of(path) or name == "__version__", f"{path} imports {target}, which is below it"
        assert not (str(target).startswith("_wings/") and part_of(path) < CORE), f"{path} imports {target}, a wing"
        private = target.parent != root and any(map(is_private, (*target.with_suffix("").parts[1:], name)))
        assert not private, f"{path} takes {name} of {target}"
        if root not in (path.parent, target.parent):
            arrows.setdefault(path.parent, set()).add(target.parent)
    left = set(arrows)
    while free := {folder for folder in left if not arrows[folder] & left}:
        left -= free
    assert left == set(), sorted(map(str, left))
    assert {part_of(path) for path in sources()} == set(range(len(PARTS))), "every part has files"
    assert set(WINGS) | {"shared"} == {path.name for path in (ROOT / "_wings").iterdir() if (path / "__init__.py").is_file()}


def test_every_mutant_is_of_a_text_in_the_code_and_so_is_every_edit_of_the_recipe(tmp_path):
    tests = {name.split()[0] for mutant in mutants([]) for name in mutant.tests}
    assert len(mutants([])) > 200 and all(any(Path(__file__).parents[1].glob(f"*/test_{name}.py")) for name in tests)
    for name in {name for name, *_ in recipe.EDITS}:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text())
    recipe.edited(tmp_path)
