"""Lists faults of docstrings: `python tests/docstrings.py` prints file:line of each and fails if there is one.

Those of public names, and of their public methods and properties, pass the checks of numpydoc's validator below, which sees
them as help() does: inherited, compiled, and with the parts that learners share.
"""

import inspect
import sys
from functools import cached_property
from pathlib import Path

from numpydoc.validate import validate

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from public import sections  # noqa: E402

# Left out: GL01, GL02 (where the quotes stand), SS02 (a formula may begin it), ES01, EX01 (not all need more than a
# sentence), PR01, PR04, PR07, PR08 ("a, b : as in ..." describes several, and may begin with a symbol), RT01, RT02, RT03 (the
# summary may say what is returned, and what is returned has a name), SA (the pages link what belongs together).
CHECKS = set(
    "GL03 GL05 GL06 GL07 GL08 GL09 GL10 SS01 SS03 SS04 SS05 SS06 "
    "PR02 PR03 PR05 PR06 PR09 PR10 RT04 RT05 YD01".split()
)


def members(cls: type) -> list[str]:
    """Return the public methods and properties that the package defines, without values of parameters and fields of tuples.

    One that overrides another and has the docstring of that one is left out.
    """
    found = []
    for name in dir(cls):
        raw, value = inspect.getattr_static(cls, name), getattr(cls, name)
        is_documented = isinstance(raw, property | cached_property) or (callable(value) and not inspect.isclass(value))
        owner = next((each for each in cls.__mro__ if name in vars(each)), object)  # (enums: of no class)
        is_documented &= bool(raw.__doc__) or not inspect.getdoc(raw)
        if name[0] != "_" and is_documented and owner.__module__.startswith("onlinecls"):
            found.append(name)
    return found


def faults() -> list[str]:
    """Return "file:line: name: fault" of each public name that numpydoc finds fault with; once, where a name is inherited."""
    found: dict[tuple, str] = {}
    for name in (f"{module}.{name}" for _, module, names in sections() for name in names):
        *_, last = name.split(".")
        value = getattr(sys.modules[name.removesuffix(f".{last}")], last)
        for each in [name, *(f"{name}.{member}" for member in (members(value) if inspect.isclass(value) else ()))]:
            told = validate(each)
            before_equation = told["docstring"].partition("\n\n")[0].endswith(":")
            for code, message in told["errors"]:
                if code in CHECKS and not (code == "SS03" and before_equation):
                    place = told["file"] or name, told["file_line"] or each
                    found.setdefault((*place, code, message), f"{place[0]}:{place[1]}: {each}: {code} {message}")
    return list(found.values())


if __name__ == "__main__":
    print(*(lines := faults()), sep="\n")
    sys.exit(bool(lines))
