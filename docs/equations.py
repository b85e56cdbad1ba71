"""Equations of docstrings as mathematics: indented lines with Unicode's letters, in LaTeX for the site.

A docstring is read in a terminal, where ``w += y (1 - m) / (v + r) Σx`` is all there should be. An equation is an indented
line between paragraphs that has one of = <= < -= +=; words in it stay words. Indented lines some of which are no equations are
set as they stand.
"""

import re

GREEK = dict(zip("αβγζηθλσστφχψεδΣω", (
    "alpha beta gamma zeta eta theta lambda sigma sigma tau phi chi psi varepsilon delta Sigma omega"
).split(), strict=True))
NAMES = {"theta", "tau", "eta", "alpha", "delta", "sigma", "beta"}
FUNCTIONS = {"min", "max", "exp", "log", "cosh", "sinh", "argmin", "sgn", "clip", "soft"}
TOKEN = re.compile(
    r'(?P<option>\w+=(?:"[^"]*"|True|False|inf)|[A-Z]+-I+\b|SCW-I+|EG\+-|DA[123])'
    r"|(?P<over>sum over (?P<set>.*?) of)\b|(?P<sum>sum of|sum)\b|(?P<root>sqrt\(|√\()"
    r"|(?P<power>\^(?:\(([^()]+)\)|-?\w+))|(?P<index>_(?:\w+))|(?P<norm>\|\|)|(?P<op><=|>=|<-|\+=|-=|\.\.|->)"
    r"|(?P<word>[A-Za-z][a-z]+[a-z_0-9]*(?: [a-z]{2,}\b(?!\())*)|(?P<numbered>[a-z]\d\b)|(?P<space> {2,})|(?P<any>.)"
)
OPERATORS = {"<=": r"\le ", ">=": r"\ge ", "<-": r"\leftarrow ", "+=": r"\mathrel{+}= ", "-=": r"\mathrel{-}= ", "..": r"\ldots ",
             "->": r"\to "}
EQUATION = re.compile(r"[^=]=[^=]|<=")
WIDTH = 80  # letters of a line that a page shows whole


def words(text):
    word, subscript = re.fullmatch(r"(.*?)(?:_(\w))?", text).groups()
    return rf"\;\text{{{word}}}" + (f"_{{{subscript}}}" if subscript else r"\;")


def latex(line):
    """Write one line of an equation in LaTeX."""
    out, opened = [], []
    for found in TOKEN.finditer(line.strip()):
        kind, text = found.lastgroup, found[0]
        if kind == "option":
            out.append(rf"\text{{{text}}}")
        elif kind == "set" or text.startswith("sum over"):
            out.append(rf"\sum_{{{latex(found['set'])}}} ")
        elif kind == "sum":
            out.append(r"\sum ")
        elif kind == "root":
            out.append(r"\sqrt{")
            opened.append("}")
        elif kind == "power" or kind is None or text.startswith("^"):
            out.append("^{" + letters(text[1:].removeprefix("(").removesuffix(")") if text[1] == "(" else text[1:]) + "}")
        elif kind == "index":
            out.append("_{" + letters(text[1:]) + "}")
        elif kind == "norm":
            out.append(r"\|")
        elif kind == "op":
            out.append(OPERATORS[text])
        elif kind == "word":
            out.append(named(text))
        elif kind == "numbered":
            out.append(f"{text[0]}_{text[1]}")
        elif kind == "space":
            out.append(r"\quad ")
        elif text == "(":
            out.append(text)
            opened.append(")")
        elif text == ")":
            out.append(opened.pop() if opened else ")")
        else:
            out.append(letters(text))
    text = "".join(out) + "".join(reversed([each for each in opened if each == "}"]))
    return text.replace(r"(\;", "(").replace(r"\;)", ")")  # words in brackets need no room beside these


def named(text):
    """Write a word: a function, a Greek letter, a letter with an index, or plain words."""
    head, _, index = text.partition("_")
    if head in NAMES:
        return rf"\{head}" + (f"_{{{index}}}" if index else " ")
    if head in FUNCTIONS:
        return rf"\operatorname{{{head}}}"
    if re.fullmatch(r"eta\d|r\d", text):
        return rf"\eta_{text[-1]} " if text.startswith("eta") else f"r_{text[-1]}"
    if len(text) == 2 and text not in {"if", "of", "or", "pa"}:
        return text  # a product of two letters
    first, *more = text.split()
    if more and (first in FUNCTIONS - {"log"} or first in {"eta0"}):
        return named(first) + words(" ".join(more))
    return words(text)


def letters(text):
    text = "".join(rf"\{GREEK[each]} " if each in GREEK else each for each in text)
    text = re.sub(r"([²³⁴])", lambda each: "^" + {"²": "2", "³": "3", "⁴": "4"}[each[0]], text)
    text = text.replace("√", r"\sqrt ").replace("|", r"\vert ").replace("{", r"\{") if text not in "{}" else text
    return text.replace("·", r"\cdot ").replace("#", r"\#").replace("%", r"\%").replace("&", r"\&").replace("_", r"\_")


def fitting(line):
    """Cut a line where it has gaps, into lines that a page shows whole."""
    parts = [""]
    for part in re.split(r"(?<=\S)(?= {2,})", line.strip()):
        if parts[-1] and len(parts[-1] + part) > WIDTH:
            parts.append(part.strip())
        else:
            parts[-1] += part
    return parts


def as_mathematics(lines):
    """Replace the equations of a docstring by ``.. math::`` blocks; the sections of parameters and examples stay."""
    out, i = [], 0
    body = True
    while i < len(lines):
        if i + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[i + 1]):
            body = lines[i] == "Notes"
        block = []
        while body and i + len(block) < len(lines) and re.match(r" {4}", lines[i + len(block)]):
            block.append(lines[i + len(block)])
        paragraph = block and not (i and lines[i - 1].strip())
        if paragraph and all(EQUATION.search(each) for each in block):
            rows = [latex(part) for each in block for part in fitting(each)]
            out += [".. math::", "    :nowrap:", "", r"    \begin{gather*}", *(f"    {row} \\\\" for row in rows[:-1]),
                    f"    {rows[-1]}", r"    \end{gather*}", ""]
        elif paragraph:
            out += [".. code-block:: text", "", *block, ""]
        else:
            out += block
        i += len(block)
        if not block:
            out.append(lines[i])
            i += 1
    return out
