"""`onlinecls algorithms`, and `--help ALGORITHM`, from the registry and the signature and docstring of each class."""

from __future__ import annotations

import inspect
import json
import re
import textwrap

import onlinecls

from .parameters import CLASSIFIERS, NAMED, REGRESSORS, allowed_parameters


def algorithms(options) -> None:
    found = [
        {"algorithm": name, "estimator": NAMED[name].estimator, "learns": "classes" if name in CLASSIFIERS else "numbers",
         "title": NAMED[name].title, "paper": NAMED[name].paper}
        for name in (*CLASSIFIERS, *REGRESSORS)
    ]
    if options.json:
        print(json.dumps({"algorithms": found}))
        return
    widths = {key: max(len(each[key]) for each in found) for key in ("algorithm", "estimator", "learns")}
    for each in found:
        print("  ".join([*(f"{each[key]:<{width}}" for key, width in widths.items()), each["title"]]))


def print_parameters(parser, name: str) -> None:
    """Print the parameters that `--param` takes for an algorithm."""
    if name not in NAMED or name not in (*CLASSIFIERS, *REGRESSORS):
        parser.error(f"argument --help: must be one of {', '.join((*CLASSIFIERS, *REGRESSORS))}, got {name!r}")
    algorithm = NAMED[name]
    cls = getattr(onlinecls, algorithm.estimator)
    defaults, documented = inspect.signature(cls).parameters, _documented_parameters(cls)
    print(f"{name}: {algorithm.title}\n{algorithm.estimator}, {algorithm.paper}\n\n{inspect.getdoc(cls).splitlines()[0]}\n")
    print("parameters, --param NAME=VALUE:")
    for parameter in allowed_parameters(name):
        value = algorithm.selects.get(parameter, defaults[parameter].default)
        kind, text = documented.get(parameter, ("", ""))
        value = str(value).lower() if value is None or isinstance(value, bool) else value  # (as on the command line)
        print(f"  {parameter}={value}, {algorithm.params.get(parameter, kind)}")
        if text:
            print(textwrap.indent(text, "      "))


def _documented_parameters(cls) -> dict[str, tuple[str, str]]:
    """Return (type, description) of each parameter from the docstring of a class."""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w+\n-+\n|\Z)", inspect.getdoc(cls), re.MULTILINE | re.DOTALL)
    text = (section[1] if section else "") + "\n"
    parts = re.findall(r"^(\w[\w, ]*) : (.*?)(?:, default=.*)?\n((?:^[ ]+.*\n|^\n)*)", text, re.MULTILINE)
    return {name: (kind, textwrap.dedent(text).strip()) for names, kind, text in parts for name in names.split(", ")}
