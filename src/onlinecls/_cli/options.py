"""The options of the command line, and its help. Nothing here needs numpy, so help and wrong usage are answered at once."""

from __future__ import annotations

import argparse
import math

from .. import __version__
from .._registry import ALGORITHMS, OTHERS

#: The algorithms that the command line offers by name.
NAMED = {**ALGORITHMS, "committee": OTHERS["committee"]}
CLASSIFIERS = tuple(name for name, algorithm in NAMED.items() if "binary" in algorithm.tasks)
REGRESSORS = tuple(name for name, algorithm in NAMED.items() if "regression" in algorithm.tasks)
_FORMATS = ("auto", "svmlight", "vw", "tsv", "fasttext", "csv", "jsonl", "parquet", "arrow")

_DESCRIPTION = """\
Learn a stream of text or sparse rows in one pass, in memory that does not grow with it.

  onlinecls train mail.tsv --save mail.model         learn; lines show the error so far
  onlinecls predict mail.model new.tsv > labels      one label per line
  onlinecls evaluate mail.model test.tsv             errors, AUC, F1, per class
  onlinecls inspect mail.model mail.tsv              what was learnt: words and their weights

Data: label<TAB>text, __label__LABEL text (fastText), CSV, JSON lines, svmlight, Vowpal Wabbit, Parquet, Arrow; gzip, bzip2, xz,
Zstandard; - is standard input.
"""
_EXIT_CODES = "Exit codes: 0 done; 1 bad data or files; 2 wrong usage; 130 Ctrl-C (143 SIGTERM, 129 SIGHUP); 141 pipe closed."
_TRAIN = """\
  onlinecls train spam.tsv --save spam.model
  zcat 2024-*.tsv.gz | onlinecls train - --format tsv --ngrams 1 2 --bits 22 --save spam.model
  onlinecls train year.tsv.gz --save year.model --save-every 10m    (after a crash the same with --resume year.model)
  onlinecls train houses.csv --label price --algorithm arow_regression --save houses.model

Each example is predicted before its label is learnt: the error is that of new data. Ctrl-C and SIGTERM end learning; with
--save the model so far is saved, and --resume goes on after its last row, bit for bit.
"""


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)
        self.set_defaults(parser=self)

    def error(self, message: str):
        self.exit(2, f"{self.prog}: {message}. See {self.prog} --help.\n")


def _whole(least: int, most: float = math.inf):
    def parse(text: str) -> int:
        if not text.isdecimal() or not least <= int(text) <= most:
            wanted = f">= {least}" if most == math.inf else f"in {least}..{most}"
            raise argparse.ArgumentTypeError(f"must be an integer {wanted}, got {text!r}")
        return int(text)

    return parse


def _every(text: str) -> tuple[int | None, float | None]:
    """Parse an interval to (rows, seconds), one of them None: 1000 and 1e6 are rows; 30s, 10m and 2h are time."""
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:], 0.0)
    try:
        number = float(text[:-1] if unit else text)
    except ValueError:
        number = math.nan
    if unit and 0.0 < number < 1e9:
        return None, number * unit
    if not unit and number >= 1.0 and number.is_integer():
        return int(number), None
    raise argparse.ArgumentTypeError(f"must be a number of rows >= 1 (1000, 1e6) or a time (30s, 10m, 2h), got {text!r}")


def _of_data(parser) -> None:
    group = parser.add_argument_group("data")
    group.add_argument("--format", choices=_FORMATS, default="auto", metavar="NAME", help=f"(auto) one of {', '.join(_FORMATS)}")
    group.add_argument("--label", metavar="COLUMN", help="of labels in CSV, JSON lines, Parquet, Arrow (label)")
    group.add_argument("--text", metavar="COLUMN", help="of texts (text, if it is alone; else columns are features)")
    group.add_argument("--delimiter", type=lambda text: "\t" if text in ("tab", "\\t") else text, metavar="C",
                       help="of CSV, a character or tab (,)")
    group.add_argument("--no-header", dest="header", action="store_false", default=None, help="CSV without a first line of names")
    group.add_argument("--on-error", choices=("raise", "skip"), default="raise", help="malformed lines: stop, or skip them")


def _add_train(parser) -> None:
    add = parser.add_argument
    add("data", nargs="+", metavar="DATA", help="files of one format; - for standard input")
    add("--save", metavar="MODEL", help="file of the model; replaced when the new one is complete")
    add("--save-every", type=_every, metavar="N|TIME", help="save a checkpoint every N rows (1e6) or every 10m")
    add("--resume", metavar="MODEL", help="go on with a saved model")
    add("--passes", type=_whole(1), default=1, metavar="N", help="over the files (1)")
    add("--test", metavar="FILE", nargs="+", action="extend", help="count errors on these files after learning")
    add = parser.add_argument_group("learner").add_argument
    add("--algorithm", choices=(*CLASSIFIERS, *REGRESSORS), metavar="NAME",
        help=f"(arow) {', '.join(CLASSIFIERS)}; of numbers {', '.join(REGRESSORS)}")
    add("--param", action="append", metavar="NAME=VALUE", help="parameter of the algorithm: r=0.5; repeatable")
    add("--probabilities", action="store_true", default=None, help="learn probabilities too")
    _of_data(parser)
    add = parser.add_argument_group("features").add_argument
    add("--weights", dest="weight", metavar="COLUMN", help="of example weights >= 0 (none)")
    add("--bits", type=_whole(1, 31), metavar="N", help="2^N columns (20; of tables 18)")
    add("--ngrams", type=_whole(1), nargs=2, metavar=("MIN", "MAX"), help="lengths of n-grams (1 1)")
    add("--analyzer", choices=("word", "char", "char_wb"), help="n-grams of words or of characters (word)")
    add("--dtype", choices=("float32", "float64"), help="of features and weights (float32)")
    add = parser.add_argument_group("output").add_argument
    add("--every", type=_every, metavar="N|TIME", help="print a line every N rows or 30s (when rows double)")
    add("--quiet", action="store_true", help="print no lines on standard error")
    add("--json", action="store_true", help="print a JSON object at the end; with --every one a line too")


def _of_model(parser, n_data: str = "+") -> None:
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("data", nargs=n_data, metavar="DATA", help="as of train; labels may be there")
    parser.add_argument("--json", action="store_true", help="JSON instead of text")
    _of_data(parser)


def _add_predict(parser) -> None:
    _of_model(parser)
    parser.add_argument("--scores", action="store_true", help="add the scores, separated by tabs, and a header line")
    parser.add_argument("--probabilities", action="store_true", help="add the probability of each class")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = _Parser(prog="onlinecls", description=_DESCRIPTION, epilog=_EXIT_CODES)
    made.add_argument("--version", action="version", version=f"onlinecls {__version__}")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    for name, help, epilog, add_options in (
        ("train", "learn a model from a stream", _TRAIN, _add_train),
        ("predict", "predict the labels of a stream, one per line", "", _add_predict),
        ("evaluate", "measure a model on labelled data", "", _of_model),
        ("inspect", "show a model and its largest weights; texts name the columns", "", lambda parser: _of_model(parser, "*")),
    ):
        add_options(commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".", epilog=epilog))
    return made
