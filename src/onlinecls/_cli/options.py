"""The options of the command line, and its help. Nothing here needs numpy, so help and wrong usage are answered at once."""

from __future__ import annotations

import argparse
import math
import os
import re
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
  onlinecls train monday.vw tuesday.vw --algorithm pa1 --param C=0.1 --save vw.model
  onlinecls train reviews.csv --label stars --text review --on-error skip --test held-out.csv
  onlinecls train wednesday.tsv --resume spam.model --save spam.model
      continues: the same model, bit for bit, as from one uninterrupted stream
  onlinecls train year.tsv.gz --save year.model --save-every 10m
  onlinecls train year.tsv.gz --save year.model --save-every 10m --resume year.model --from-row next
      saves checkpoints; after a crash, goes on from the last one
  onlinecls train houses.csv --label price --algorithm arow_regression --save houses.model
      predicts numbers: lines show the mean squared (mse) and mean absolute error (mae)

The error is progressive: each example is predicted before its label is learnt, so no held-out data are needed. With --passes,
the error of the first pass is reported. Ctrl-C, SIGTERM and SIGHUP end learning; with --save the model so far is saved.

"""
_PREDICT = """\
examples:
  onlinecls predict spam.model new.tsv > labels
  onlinecls predict spam.model new.tsv --scores | sort -t"$(printf '\\t')" -k2g | tail
  onlinecls predict topics.model new.jsonl --top 3 --id url --json
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
  onlinecls inspect spam.model --json --top 50

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


_JSON_A_ROW = "one JSON object for each row instead of text"

# Options of Vowpal Wabbit and fastText: what they are called here, and what to say to a command that has no such option.
_FILES, _MODEL = "Files are given without an option.", "MODEL is given first, without an option."
_NAMESPACES = "A model keeps what train is told of VW's namespaces."
_NEAR = 0.8  # least similarity of an option that is named in its place
_HABITS = {option: tuple(said) for options, *said in (
    ("-d --data -input --input", "", _FILES),
    ("-i --initial_regressor --model", "--resume MODEL", _MODEL),
    ("-f --final_regressor -o -output --output", "--save MODEL", "Redirect standard output: > FILE."),
    ("-b --bit_precision -bucket", "--bits N", "A model keeps its columns."),
    ("-c --cache_file --cache", "", "There is no cache: files are parsed in each pass."),
    ("-l -lr --learning_rate", "--param NAME=VALUE", ""),
    ("-minn -maxn", "--analyzer char_wb --ngrams MIN MAX", "A model keeps its n-grams."),
    ("-r --raw_predictions", "--scores", "onlinecls predict --scores prints them."),
    ("-t --testonly", "", "onlinecls evaluate and predict learn nothing."),
    ("-q --quadratic --cubic --interactions", "-q AB", _NAMESPACES),
    ("--keep --ignore --skips", "", _NAMESPACES),
    ("--noconstant", "", "fit_intercept=false is a parameter of an algorithm: arow:fit_intercept=false."),
    ("--ngram", "--ngram N", "A model keeps its n-grams."),
    ("-wordNgrams", "--ngrams MIN MAX", "A model keeps its n-grams."),
    ("--ignore_linear --redefine --affix --spelling --dictionary --permutations --feature_limit "
     "--leave_duplicate_interactions", "",
     "Of VW's options about features there are -q, --ngram, --skips, --keep and --ignore, of train."),
    ("--loss_function -loss --sgd --adaptive --normalized --invariant --ftrl --bfgs --coin", "--algorithm NAME",
     "A model keeps its algorithm."),
    ("--oaa --ect", "", "Classes are found as they come, or named by --classes."),
    ("--csoaa --csoaa_ldf --wap --wap_ldf", "",
     "Lines with a cost for each class are not read; costs of the classes are --param class_weight=LABEL:WEIGHT,..."),
    ("--cb --cb_explore --cb_adf --cb_explore_adf --cb_type --cbify --cats --slates --lda --nn --lrq --search --active", "",
     "There are linear classifiers and regressors alone: VW's other reductions have no counterpart."),
    ("--names --invert_hash", "", "onlinecls inspect MODEL DATA names columns by the words of DATA."),
    ("--readable_model", "", "onlinecls inspect MODEL shows the largest weights."),
    ("-a --audit", "", "StreamPipeline.explain shows the features of a row, in Python."),
    ("--daemon --port --foreground", "", "onlinecls predict MODEL - answers the lines of a pipe."),
    ("--holdout_off --holdout_period --holdout_after", "", "No rows are held out: each is predicted just before it is learnt."),
    ("--save_resume", "", "A model always goes on exactly: train --resume MODEL."),
    ("--power_t --initial_t --decay_learning_rate", "", "There is no schedule of steps."),
    ("--hash --hash_seed", "", "Names are hashed as by VW's --hash strings."),
    ("--link", "--probabilities", "onlinecls predict --probabilities prints them."),
    ("--progress", "--every N", ""),
    ("-verbose", "--quiet", ""),
    ("-autotune-validation -autotune-duration -autotune-predictions -autotune-modelsize -autotune-metric", "",
     "onlinecls.compare tries parameters, in Python; most learners need none."),
    ("-dim -pretrainedVectors", "", "There are no word vectors: each word has weights of its own."),
    ("-minCount -minCountLabel", "", "Words are hashed, however rare they are; rare ones stay near 0."),
    ("-cutoff -qnorm -qout -dsub", "", "A model whose name ends in .gz is compressed."),
    ("-label", "", "Labels begin with __label__."),
    ("-seed --random_seed", "", "Nothing is random."),
    ("--l1", "--algorithm adagrad_da --param l1=VALUE", ""),
    ("--l2", "--algorithm ogd --param alpha=VALUE", ""),
    ("-p", "--predictions FILE", "Predictions go to standard output."),
    ("-P", "--every N", ""),
    ("-epoch", "--passes N", ""),
    ("-thread", "--threads N", ""),
) for option in options.split()}


class _CommandParser(_Parser):
    """Gets its options when it is used: those of all commands would take as long as learning a megabyte of texts."""

    def __init__(self, *, add_options, **options):
        super().__init__(**options)
        self._add_options, self._given = add_options, argparse.Namespace()
        self.set_defaults(parser=self)

    def parse_known_args(self, args=None, namespace=None):
        self._add_options(self)
        for each in args[: args.index("--")] if "--" in args else args:
            option = each.partition("=")[0]
            if re.match("--?[A-Za-z]", option) and " " not in each and option not in self._option_string_actions:
                self.error(f"unknown option {option}. {self._instead_of(option)}")
        found, left = super().parse_known_args(args, self._given)
        if left:
            self.error(f"unexpected {' '.join(left)}. Files are given together, options before or behind them.")
        return found, left

    def _instead_of(self, option: str) -> str:
        from difflib import get_close_matches

        ours, otherwise = _HABITS.get(option, ("", ""))
        if ours.split(" ")[0] in self._option_string_actions:
            return f"Use {ours}."
        near = get_close_matches(option, self._option_string_actions, 1, _NEAR)
        return otherwise or (f"Is {near[0]} meant?" if near else f"{self.prog} --help lists all.")

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


def _number(text: str) -> float:
    """Return a number; NaN for another text."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _every(text: str) -> Every:
    """Parse an interval: 1000 and 1e6 are rows; 30s, 10m and 2h are time."""
    unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:], 0.0)
    number = _number(text[:-1] if unit else text)
    if unit and 0.0 < number < 1e9:
        return Every(seconds=number * unit)
    if not unit and number >= 1.0 and number.is_integer():
        return Every(rows=int(number))
    raise argparse.ArgumentTypeError(f"must be a number of rows >= 1 (1000, 1e6) or a time (30s, 10m, 2h), got {text!r}")


def _list(text: str) -> list[str]:
    found = text.split(",")
    if not all(found) or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"must be different names with commas between, got {text!r}")
    return found


_COMMA_OF_FORMAT = r",(?=[^=,]*%[^=]*(,|$))"  # (what is behind it has a %, as no name has, and no =)


def _dates(text: str) -> dict[str, str | None]:
    """Read COLUMN=FORMAT, or COLUMN, several with commas between."""
    pairs = [each.partition("=") for each in _list(re.sub(_COMMA_OF_FORMAT, "\0", text))]
    if not all(name for name, _, _ in pairs):
        raise argparse.ArgumentTypeError(f"must be COLUMN or COLUMN=FORMAT with commas between (day=%d/%m/%Y), got {text!r}")
    return {name: form.replace("\0", ",") or None for name, _, form in pairs}


def _count_of_letter(text: str) -> tuple[str, int]:
    """Read N, or LETTER and N, as VW's --ngram: (letter of a namespace or ":" for all, number)."""
    letter, number = (":", text) if text[:1].isdecimal() else (text[:1], text[1:])
    if not number.isdecimal() or not number.isascii():
        raise argparse.ArgumentTypeError(f"must be a number, or the first letter of a namespace and a number (a2), got {text!r}")
    return letter, int(number)


def _labels(text: str) -> list[str]:
    found = _list(text)
    if len(found) < 2:
        raise argparse.ArgumentTypeError(f"must be two labels or more, got {text!r}; left out, labels join as they appear")
    return found


def _pattern(text: str) -> str:
    try:
        n_groups = re.compile(text).groups
    except re.error as error:
        raise argparse.ArgumentTypeError(f"must be a regular expression, got {text!r}: {error}.") from None
    if n_groups > 1:
        raise argparse.ArgumentTypeError(f"must be a regular expression with at most one group, got {text!r}")
    return text


def _size(text: str) -> float:
    if not 0.0 <= (size := _number(text)) < math.inf:
        raise argparse.ArgumentTypeError(f"must be a finite number >= 0, got {text!r}")
    return size


def _from_row(text: str):
    return text if text == "next" else _whole(text)


def _delimiter(text: str) -> str:
    return "\t" if text in ("tab", "\\t") else text


def _data_options(parser, trains: bool) -> None:
    group = parser.add_argument_group("data")
    group.add_argument("--format", choices=_FORMATS, default="auto", help="(auto) auto: by the name, else by the first lines")
    group.add_argument("--label", metavar="COLUMN", help="column of labels in CSV, JSON lines, Parquet, Arrow (label)")
    group.add_argument("--text", metavar="COLUMN", help="column of texts (text, if it exists; else columns are features)")
    if trains:
        group.add_argument("--weights", metavar="COLUMN", help="column of example weights >= 0 (none)")
    group.add_argument("--missing", choices=("absent", "error"), help="missing values in a table: 0, or an error (absent)")
    unknown_help = "rows of a table that lack columns: refuse those that lack most (warn), take all, or none (warn)"
    group.add_argument("--unknown", choices=("warn", "ignore", "error"), help=unknown_help)
    group.add_argument("--delimiter", type=_delimiter, metavar="C", help="delimiter of CSV, a character or tab (the header's)")
    group.add_argument("--no-header", action="store_true", default=None, help="CSV without a header: columns by number, from 0")
    group.add_argument("--threads", type=_whole, metavar="N", help="threads that parse files (one a processor, up to 4)")
    group.add_argument("--on-error", choices=("raise", "skip"), default="raise", help="malformed lines: stop, or skip them")
    if not trains:
        _trust_option(group)


def _hashing_options(parser) -> None:
    group = parser.add_argument_group("features")
    group.add_argument("--bits", type=partial(_whole, most=40), metavar="N", help="2^N columns (20)")
    group.add_argument("--ngrams", type=_whole, nargs=2, metavar=("MIN", "MAX"), help="lengths of n-grams (1 1)")
    group.add_argument("--analyzer", choices=("word", "char", "char_wb"), help="n-grams of words or of characters (word)")
    pattern_help = r"regular expression of a word (\b\w\w+\b; \w+ also takes single characters)"
    group.add_argument("--token-pattern", type=_pattern, metavar="REGEX", help=pattern_help)
    group.add_argument("--categories", type=_list, metavar="NAMES", help="columns of a table with categories, not numbers")
    dates_help = "columns of a table with dates, each with its strptime format if it needs one (day=%%d/%%m/%%Y)"
    group.add_argument("--dates", type=_dates, metavar="NAME[=FORMAT],...", help=dates_help)
    group.add_argument("--decimal", choices=(".", ","), help="what stands before decimals in a table's texts (.)")
    group.add_argument("--log", type=_list, metavar="NAMES|all", help="columns of numbers that get their logarithm, too")
    group.add_argument(
        "--ignore", type=_list, action="extend", metavar="NAMES",
        help="columns of a table that are not features; of VW's files, first letters of namespaces",
    )
    group.add_argument("--keep", type=_list, action="extend", metavar="LETTERS", help="VW: first letters of the only namespaces")
    group.add_argument(
        "-q", "--interactions", action="append", metavar="AB",
        help="VW: products of features of namespaces with the first letters A and B (or more); : is any letter; repeatable",
    )
    group.add_argument(
        "--ngram", type=_count_of_letter, action="append", metavar="[A]N", help="VW: n-grams of N features (of namespaces A)"
    )
    group.add_argument(
        "--skips", type=_count_of_letter, action="append", metavar="[A]K", help="VW: up to K features left out in an n-gram"
    )
    group.add_argument(
        "--numbers", choices=("standardized", "raw"), help="columns of numbers: by mean and deviation so far, or as they are"
    )
    group.add_argument("--dtype", choices=("float32", "float64"), help="type of features and weights (float32)")


def _learner_options(group) -> None:
    group.add_argument("--classes", type=_labels, metavar="LABELS", help="all classes: ham,spam (labels, as they appear)")
    labels_help = "str: any text is a label (auto: in svmlight and VW numbers, or names)"
    group.add_argument("--labels", choices=("auto", "str"), help=labels_help)


def _output_options(parser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "--every", type=_every, metavar="N|TIME", help="print a line every N examples or 30s (when examples double, or 60s)"
    )
    group.add_argument("--quiet", action="store_true", help="print no lines and no bar on standard error")
    group.add_argument(
        "--json", action="store_true", help="print a JSON object on standard output at the end, with --every one a line too"
    )


def _trust_option(parser) -> None:
    parser.add_argument("--trust", action="store_true", help="take a token pattern of any form from MODEL: it may run for ever")


def _add_train(parser) -> None:
    parser.add_argument("data", nargs="+", metavar="DATA", help="files of one format; - for standard input")
    group = parser.add_argument_group("learner")
    group.add_argument("--algorithm", choices=(*CLASSIFIERS, *REGRESSORS), metavar="NAME", help=f"(arow) one of {_LEARNERS}")
    group.add_argument("--param", action="append", metavar="NAME=VALUE", help="parameter of the algorithm: r=0.5; repeatable")
    group.add_argument(
        "--probabilities", "--probability", action="store_true", default=None, dest="probability",
        help="learn probabilities too, for predict --probabilities",
    )
    group.add_argument("--noconstant", action="store_true", default=None, help="no intercept: --param fit_intercept=false")
    _learner_options(group)
    group.add_argument("--passes", type=_whole, default=1, metavar="N", help="passes over the files (1)")
    group.add_argument("--resume", metavar="MODEL", help="go on with a saved model, its learner and features")
    _trust_option(group)
    group.add_argument("--from-row", type=_from_row, metavar="N|next", help="first row to learn; next: where --resume stopped")
    group.add_argument("--jobs", type=_whole, metavar="N", help="processes, one file each at a time, then merge the models")
    _data_options(parser, trains=True)
    parser.add_argument(
        "--unlabelled", choices=("refuse", "skip", "predict"), default="refuse",
        help="rows without a label: an error, left out and counted, or predicted and not learnt (refuse)",
    )
    _hashing_options(parser)
    _output_options(parser)
    parser.add_argument("--save", metavar="MODEL", help="file of the model; an old one is replaced when the new one is complete")
    parser.add_argument("--save-every", type=_every, metavar="N|TIME", help="save a checkpoint every N rows (1e6) or every 10m")
    parser.add_argument("--test", metavar="FILE", nargs="+", action="extend", help="count errors on these files after learning")
    parser.add_argument(
        "--predictions", metavar="FILE",
        help="write the prediction of each row just before it is learnt, as it comes (first pass; - for standard output)",
    )


def _of_model(parser, data="+", of_data=None, top="", json="one JSON object instead of text", quiet=False) -> None:
    """Add what the commands have that take a model and data. top : what --top counts features of."""
    parser.add_argument("model", metavar="MODEL")
    parser.add_argument("data", nargs=data, metavar="DATA", help=of_data)
    if top:
        parser.add_argument("--top", type=_whole, default=10, metavar="K", help=f"number of features for each {top} (10)")
    if json:
        parser.add_argument("--json", action="store_true", help=json)
    _data_options(parser, trains=False)
    if quiet:
        parser.add_argument("--quiet", action="store_true", help="no bar on standard error")


def _add_predict(parser) -> None:
    parser.add_argument("--scores", action="store_true", help="add the scores, separated by tabs, and a header line")
    parser.add_argument("--std", action="store_true", help="add the standard deviations of the scores (models with variances)")
    parser.add_argument("--probabilities", action="store_true", help="add the probability of each class, if the model has any")
    parser.add_argument("--top", type=_whole, metavar="K", help="add the K best classes, with probabilities or --scores")
    parser.add_argument("--id", metavar="COLUMN", help="print this column before each prediction")
    _of_model(parser, json=_JSON_A_ROW, quiet=True)


def _add_evaluate(parser) -> None:
    _of_model(parser, quiet=True)


# What each command is for, what its help ends with, and the function that adds its options.
_COMMANDS = {
    "train": ("learn a model from a stream", _TRAIN, _add_train),
    "predict": ("predict the labels of a stream, one per line", _PREDICT, _add_predict),
    "evaluate": ("measure a model on labelled data", _EVALUATE, _add_evaluate),
    "inspect": (
        "show a model and its largest weights", _INSPECT,
        partial(_of_model, data="*", of_data="texts whose words name the columns", top="class"),
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
            name, help=help, description=help[0].upper() + help[1:] + ".", epilog=epilog + _EXIT_CODES, add_options=add_options,
        )
    return made
