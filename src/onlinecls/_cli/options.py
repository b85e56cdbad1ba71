"""The options of the command line, and its help. Nothing here needs numpy, so help and wrong usage are answered at once."""

from __future__ import annotations

import argparse
import math
import os
import sys
from functools import partial

from .. import __version__
from .parameters import CLASSIFIERS, REGRESSORS
from .progress import Every

_FORMATS = ("auto", "svmlight", "vw", "tsv", "fasttext", "csv", "jsonl", "parquet", "arrow")

_LEARNERS = f"{', '.join(CLASSIFIERS)}; for targets that are numbers {', '.join(REGRESSORS)}"

_DESCRIPTION = """\
Learn a stream of text or sparse rows in one pass, in memory that does not grow with it.

  onlinecls train mail.tsv --save mail.model         learn; lines show the error so far
  onlinecls predict mail.model new.tsv > labels      one label per line
  onlinecls evaluate mail.model test.tsv             errors, AUC, F1, per class
  onlinecls inspect mail.model mail.tsv              what was learnt: words and their weights

Data: label<TAB>text, __label__LABEL text (fastText), CSV, JSON lines, svmlight, Vowpal Wabbit, Parquet, Arrow; gzip, bzip2, xz,
Zstandard; - is standard input.
"""
_EXIT_CODES = """\
Exit codes: 0 done; 1 bad data, a bad file or an unsaved checkpoint; 2 wrong usage; 130 interrupted (Ctrl-C; 143 SIGTERM, 129
SIGHUP); 141 output pipe closed.
"""
_TRAIN = """\
examples:
  onlinecls train spam.tsv --save spam.model
      AROW on hashed words, 2^20 columns; prints a line each time the number of examples has doubled
  zcat 2024-*.tsv.gz | onlinecls train - --ngrams 1 2 --bits 22 --save spam.model
      reads words and pairs of words from a pipe
  onlinecls train reviews.csv --label stars --text review --on-error skip --test held-out.csv
  onlinecls train wednesday.tsv --resume spam.model --save spam.model
      continues: the same model, bit for bit, as from one uninterrupted stream
  onlinecls train year.tsv.gz --save year.model --save-every 10m
      saves checkpoints; after Ctrl-C or a crash, the same with --resume year.model goes on behind the last row that was learnt
  onlinecls train houses.csv --label price --algorithm arow_regression --save houses.model
      predicts numbers: lines show the mean squared (mse) and mean absolute error (mae)

The error is progressive: each example is predicted before its label is learnt, so no held-out data are needed. With --passes,
the error of the first pass is reported. Ctrl-C, SIGTERM and SIGHUP end learning; with --save the model so far is saved.

"""
_PREDICT = """\
examples:
  onlinecls predict spam.model new.tsv > labels
  onlinecls predict spam.model new.tsv --scores | sort -t"$(printf '\\t')" -k2g | tail
  tail -f mail.log | onlinecls predict spam.model - --format tsv

Data may have labels, which are ignored. A regression model predicts numbers.

"""
_EVALUATE = """\
examples:
  onlinecls evaluate spam.model held-out.tsv
  onlinecls evaluate spam.model held-out.tsv --json

Prints error, log loss (for models with probabilities), area under the ROC curve and F1; precision, recall and F1 of each class;
and the confusion matrix. For a regression model: mean squared and mean absolute error.

"""
_INSPECT = """\
examples:
  onlinecls inspect spam.model                   shows columns by number
  onlinecls inspect spam.model spam.tsv          shows columns by the words of the given data

A word with weight w ± s adds about w to the score of the class; s is its standard deviation under a second-order learner, small
for words that were seen often. "shared" marks a column that several words share: they have one weight together.

"""


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Return the formatter of the help. (By itself it imports shutil, which takes 3 ms, to find the width of the terminal.)"""
    try:
        width = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size(sys.__stdout__.fileno()).columns
    except (ValueError, AttributeError, OSError):
        width = 0
    return argparse.RawDescriptionHelpFormatter(prog, width=(width if width > 0 else 80) - 2)


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options):
        super().__init__(formatter_class=_formatter, allow_abbrev=False, **options)


class _CommandParser(_Parser):
    """Gets its options when it is used: those of all commands would take as long as learning a megabyte of texts."""

    def __init__(self, *, add_options, **options):
        super().__init__(**options)
        self._add_options, self._given = add_options, argparse.Namespace()
        self.set_defaults(parser=self)

    def parse_known_args(self, args=None, namespace=None):
        self._add_options(self)
        found, left = super().parse_known_args(args, self._given)
        if left:
            self.error(f"unknown {' '.join(left)}. Files are given together; {self.prog} --help lists all options.")
        return found, left

    def error(self, message: str):
        if message.endswith(": DATA") and (files := getattr(self._given, "test", None)):
            message = (
                f"DATA must be given, got only --test {' '.join(files)}. Put DATA before --test, or write --test={files[0]} for "
                "each file."
            )
        super().error(message)


def _whole(text: str, most: int | None = None) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= (most or int(text)):
        wanted = ">= 1" if most is None else f"in 1..{most}"
        raise argparse.ArgumentTypeError(f"must be an integer {wanted}, got {text!r}")
    return int(text)


def _every(text: str) -> Every:
    """Parse an interval: 1000 and 1e6 are rows; 30s, 10m and 2h are time."""
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:], 0.0)
    try:
        number = float(text[:-1] if unit else text)
    except ValueError:
        number = math.nan
    if unit and 0.0 < number < 1e9:
        return Every(seconds=number * unit)
    if not unit and number >= 1.0 and number.is_integer():
        return Every(rows=int(number))
    raise argparse.ArgumentTypeError(f"must be a number of rows >= 1 (1000, 1e6) or a time (30s, 10m, 2h), got {text!r}")


def _labels(text: str) -> list[str]:
    found = text.split(",")
    if not all(found) or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"must be different names with commas between, got {text!r}")
    if len(found) < 2:
        raise argparse.ArgumentTypeError(f"must be two labels or more, got {text!r}; left out, labels join as they appear")
    return found


def _delimiter(text: str) -> str:
    return "\t" if text in ("tab", "\\t") else text


def _data_options(parser, trains: bool = False) -> None:
    group = parser.add_argument_group("data")
    group.add_argument("--format", choices=_FORMATS, default="auto", help="(auto) auto: by the name, else by the first lines")
    group.add_argument("--label", metavar="COLUMN", help="column of labels in CSV, JSON lines, Parquet, Arrow (label)")
    group.add_argument("--text", metavar="COLUMN", help="column of texts (text, if it exists; else columns are features)")
    if trains:
        group.add_argument("--weights", metavar="COLUMN", help="column of example weights >= 0 (none)")
    group.add_argument("--delimiter", type=_delimiter, metavar="C", help="delimiter of CSV, a character or tab (the header's)")
    group.add_argument("--no-header", action="store_true", default=None, help="CSV without a header: columns by number, from 0")
    group.add_argument("--on-error", choices=("raise", "skip"), default="raise", help="malformed lines: stop, or skip them")


def _add_train(parser) -> None:
    parser.add_argument("data", nargs="+", metavar="DATA", help="files of one format; - for standard input")
    parser.add_argument("--save", metavar="MODEL", help="file of the model; an old one is replaced when the new one is complete")
    parser.add_argument("--save-every", type=_every, metavar="N|TIME", help="save a checkpoint every N rows (1e6) or every 10m")
    parser.add_argument(
        "--resume", metavar="MODEL", help="go on with a saved model; with one of an interrupted run, behind its last row of DATA"
    )
    parser.add_argument("--passes", type=_whole, default=1, metavar="N", help="passes over the files (1)")
    parser.add_argument("--test", metavar="FILE", nargs="+", action="extend", help="count errors on these files after learning")
    group = parser.add_argument_group("learner")
    group.add_argument("--algorithm", choices=(*CLASSIFIERS, *REGRESSORS), metavar="NAME", help=f"(arow) one of {_LEARNERS}")
    group.add_argument("--param", action="append", metavar="NAME=VALUE", help="parameter of the algorithm: r=0.5; repeatable")
    group.add_argument(
        "--probabilities", action="store_true", default=None, help="learn probabilities too, for predict --probabilities"
    )
    group.add_argument("--classes", type=_labels, metavar="LABELS", help="all classes: ham,spam (labels, as they appear)")
    _data_options(parser, trains=True)
    group = parser.add_argument_group("features")
    group.add_argument("--bits", type=partial(_whole, most=40), metavar="N", help="2^N columns (20)")
    group.add_argument("--ngrams", type=_whole, nargs=2, metavar=("MIN", "MAX"), help="lengths of n-grams (1 1)")
    group.add_argument("--analyzer", choices=("word", "char", "char_wb"), help="n-grams of words or of characters (word)")
    group.add_argument("--dtype", choices=("float32", "float64"), help="type of features and weights (float32)")
    group = parser.add_argument_group("output")
    group.add_argument(
        "--every", type=_every, metavar="N|TIME", help="print a line every N examples or 30s (when examples double, or 60s)"
    )
    group.add_argument("--quiet", action="store_true", help="print no lines and no bar on standard error")
    group.add_argument(
        "--json", action="store_true", help="print a JSON object on standard output at the end, with --every one a line too"
    )


def _add_predict(parser) -> None:
    _of_model(parser, json="one JSON object for each row instead of text", quiet=True)
    parser.add_argument("--scores", action="store_true", help="add the scores, separated by tabs, and a header line")
    parser.add_argument("--probabilities", action="store_true", help="add the probability of each class, if the model has any")


def _of_model(parser, data="+", of_data=None, json="one JSON object instead of text", quiet=False) -> None:
    """Add what the commands have that take a model and data."""
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("data", nargs=data, metavar="DATA", help=of_data)
    parser.add_argument("--json", action="store_true", help=json)
    _data_options(parser)
    if quiet:
        parser.add_argument("--quiet", action="store_true", help="no bar on standard error")


# What each command is for, what its help ends with, and the function that adds its options.
_COMMANDS = {
    "train": ("learn a model from a stream", _TRAIN, _add_train),
    "predict": ("predict the labels of a stream, one per line", _PREDICT, _add_predict),
    "evaluate": ("measure a model on labelled data", _EVALUATE, partial(_of_model, quiet=True)),
    "inspect": (
        "show a model and its largest weights", _INSPECT,
        partial(_of_model, data="*", of_data="texts whose words name the columns"),
    ),
}


def parser(argv: list[str]) -> _Parser:
    """Return the parser of a command line: with the command that it begins with, else with all of them."""
    made = _Parser(prog="onlinecls", description=_DESCRIPTION, epilog=_EXIT_CODES)
    made.add_argument("--version", action="version", version=f"onlinecls {__version__}")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_CommandParser)
    for name in argv[:1] if argv[:1] and argv[0] in _COMMANDS else _COMMANDS:
        help, epilog, add_options = _COMMANDS[name]
        commands.add_parser(
            name, help=help, description=help[0].upper() + help[1:] + ".", epilog=epilog + _EXIT_CODES, add_options=add_options
        )
    return made
