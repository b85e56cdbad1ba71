"""The options of the command line, and its help."""

from __future__ import annotations

import argparse

from .. import __version__
from .compare import compare
from .inspect import inspect
from .learning import CLASSIFIERS, REGRESSORS
from .predict import predict
from .train import train

_FORMATS = ("auto", "svmlight", "vw", "tsv", "csv", "jsonl", "parquet", "arrow")

_LEARNERS = f"{', '.join(CLASSIFIERS)}; for targets that are numbers {', '.join(REGRESSORS)}"

_DESCRIPTION = """\
Learn a stream of text or sparse rows in one pass, in memory that does not grow with it.

  onlinecls train mail.tsv --save mail.model         learn; lines show the error so far
  onlinecls predict mail.model new.tsv > labels      one label a line
  onlinecls inspect mail.model mail.tsv              what was learnt, in words
  onlinecls compare mail.tsv --algorithms arow pa1   several learners, one reading

Data: label<TAB>text, CSV, JSON lines, svmlight, Vowpal Wabbit, Parquet, Arrow; gzip, bzip2, xz, Zstandard; - is standard input.
"""
_EXIT_CODES = """\
Exit codes: 0 done; 1 bad data or a bad file; 2 wrong usage; 130 interrupted (Ctrl-C); 141 nobody reads the output any more.
"""
_TRAIN = """\
examples:
  onlinecls train spam.tsv --save spam.model
      AROW on hashed words, 2^20 columns; a line when the number of examples has doubled
  zcat 2024-*.tsv.gz | onlinecls train - --ngrams 1 2 --bits 22 --save spam.model
      words and pairs of words, from a pipe
  onlinecls train monday.vw tuesday.vw --algorithm pa1 --param C=0.1 --save vw.model
  onlinecls train reviews.csv --label stars --text review --on-error skip --test held-out.csv
  onlinecls train wednesday.tsv --resume spam.model --save spam.model
      as if the stream had never stopped: the same model, bit for bit
  onlinecls train houses.csv --label price --algorithm arow_regression --save houses.model
      numbers instead of classes: lines show the mean squared (mse) and absolute (mae) error

The error so far is progressive: each example is predicted before its label is learnt, so it is an honest estimate without any
data held out. With --passes only the first pass counts. Ctrl-C ends learning; with --save what was learnt until then is saved.

"""
_PREDICT = """\
examples:
  onlinecls predict spam.model new.tsv > labels
  onlinecls predict spam.model new.tsv --scores | sort -t"$(printf '\\t')" -k2g | tail
  tail -f mail.log | onlinecls predict spam.model - --format tsv

Data with and without labels can be read; labels are not looked at. A regression model predicts numbers.

"""
_INSPECT = """\
examples:
  onlinecls inspect spam.model                   needs --names N in training to show words
  onlinecls inspect spam.model spam.tsv          or data, whose words are looked up
  onlinecls inspect spam.model --json --top 50

A weight w ± s of a word: its presence adds about w to the score of the class; s is the standard deviation that second-order
learners keep of it, small where the word was met often. "shared": other words have the same column, so the weight is theirs too.

"""
_COMPARE = """\
examples:
  onlinecls compare spam.tsv --algorithms arow pa1 perceptron
  onlinecls compare spam.tsv --algorithms arow:r=0.01 arow:r=0.1 arow:r=1 --plot curves.png
  onlinecls compare houses.csv --label price --algorithms arow_regression pa1_regression:epsilon=0.5

"""


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options):
        super().__init__(formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options)


def _bits(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 40:
        raise argparse.ArgumentTypeError(f"must be an integer in 1..40, got {text!r}")
    return int(text)


def _at_least(low: int):
    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < low:
            raise argparse.ArgumentTypeError(f"must be an integer >= {low}, got {text!r}")
        return int(text)

    return whole


def _data_options(parser, trains: bool) -> None:
    group = parser.add_argument_group("data")
    group.add_argument("--format", choices=_FORMATS, default="auto", help="by default seen from the name or the first lines")
    group.add_argument("--label", metavar="COLUMN", help="of CSV, JSON lines, Parquet, Arrow (label)")
    group.add_argument("--text", metavar="COLUMN", help="of texts (text, if there is one; else the table is numbers)")
    if trains:
        group.add_argument("--weights", metavar="COLUMN", help="of example weights >= 0 (none)")
    group.add_argument("--delimiter", metavar="C", help="of CSV (,)")
    group.add_argument("--no-header", action="store_true", default=None, help="CSV without a header: columns by number, from 0")
    group.add_argument("--threads", type=_at_least(1), metavar="N", help="that parse files (as many as processors, 4 at most)")
    group.add_argument("--on-error", choices=("raise", "skip"), default="raise", help="a malformed line: stop, or count and skip")


def _hashing_options(parser) -> None:
    group = parser.add_argument_group("features")
    group.add_argument("--bits", type=_bits, metavar="N", help="2^N columns (20)")
    group.add_argument("--ngrams", type=_at_least(1), nargs=2, metavar=("MIN", "MAX"), help="lengths of n-grams (1 1)")
    group.add_argument("--analyzer", choices=("word", "char", "char_wb"), help="n-grams of words, or of characters (word)")
    group.add_argument("--dtype", choices=("float32", "float64"), help="of rows and weights (float32)")


def _output_options(parser, lines: bool = True) -> None:
    group = parser.add_argument_group("output")
    if lines:
        group.add_argument("--every", type=_at_least(1), metavar="N", help="a line every N examples (when they have doubled)")
    group.add_argument("--quiet", action="store_true", help="no lines, no bar on standard error")
    group.add_argument("--json", action="store_true", help="one JSON object on standard output at the end")


def parser() -> _Parser:
    made = _Parser(prog="onlinecls", description=_DESCRIPTION, epilog=_EXIT_CODES)
    made.add_argument("--version", action="version", version=f"onlinecls {__version__}")
    commands = made.add_subparsers(dest="command", required=True, metavar="COMMAND")
    of_train = _command(commands, train, "learn a model from a stream, once through", _TRAIN)
    of_train.add_argument("data", nargs="+", metavar="DATA", help="files of one format; - is standard input")
    group = of_train.add_argument_group("learner")
    group.add_argument("--algorithm", choices=(*CLASSIFIERS, *REGRESSORS), metavar="NAME", help=f"(arow) one of {_LEARNERS}")
    group.add_argument("--param", action="append", metavar="NAME=VALUE", help="of the algorithm: r=0.5; may be repeated")
    group.add_argument("--passes", type=_at_least(1), default=1, metavar="N", help="times through the files (1)")
    group.add_argument("--resume", metavar="MODEL", help="go on with a saved model: learner and features are its own")
    _data_options(of_train, trains=True)
    _hashing_options(of_train)
    _output_options(of_train)
    of_train.add_argument("--save", metavar="MODEL", help="where the model goes; the old file stays until the new one is whole")
    of_train.add_argument("--names", type=_at_least(2), metavar="N", help="keep the names of up to N columns (none: slower)")
    of_train.add_argument("--test", metavar="FILE", nargs="+", help="count errors on these files after learning")

    of_predict = _command(commands, predict, "predict the labels of a stream, one a line", _PREDICT)
    of_predict.add_argument("model", metavar="MODEL")
    of_predict.add_argument("data", nargs="+", metavar="DATA")
    of_predict.add_argument("--scores", action="store_true", help="scores behind each label, tabs between, a header line first")
    _data_options(of_predict, trains=False)
    of_predict.add_argument("--quiet", action="store_true", help="no bar on standard error")

    of_inspect = _command(commands, inspect, "show what a model is and what it has learnt", _INSPECT)
    of_inspect.add_argument("model", metavar="MODEL")
    of_inspect.add_argument("data", nargs="*", metavar="DATA", help="texts whose words name the columns")
    of_inspect.add_argument("--top", type=_at_least(1), default=10, metavar="K", help="features of each class (10)")
    of_inspect.add_argument("--json", action="store_true", help="one JSON object instead of text")
    _data_options(of_inspect, trains=False)

    of_compare = _command(commands, compare, "race several learners over one reading of a stream", _COMPARE)
    of_compare.add_argument("data", nargs="+", metavar="DATA")
    of_compare.add_argument(
        "--algorithms", nargs="+", default=["arow", "pa1", "perceptron"], metavar="NAME[:P=V,...]",
        help=f"(arow pa1 perceptron) of {_LEARNERS}",
    )
    of_compare.add_argument("--plot", metavar="FILE", help="learning curves as a picture (needs matplotlib)")
    _data_options(of_compare, trains=True)
    _hashing_options(of_compare)
    _output_options(of_compare)
    return made


def _command(commands, run, help: str, epilog: str) -> _Parser:
    description = help[0].upper() + help[1:] + "."
    made = commands.add_parser(run.__name__, help=help, description=description, epilog=epilog + _EXIT_CODES)
    made.set_defaults(run=run, parser=made)
    return made
