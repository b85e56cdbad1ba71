"""Short texts of two labels, and files of them, for the command line."""

import json
import random

import pytest

WORDS = {
    "ham": "lunch noon meeting the a project report you tomorrow call".split(),
    "spam": "cheap pills win prize the a click free you now".split(),
}


def texts(n, seed=0, labels=tuple(WORDS)):
    draw = random.Random(seed)
    found = []
    for _ in range(n):
        label = draw.choice(labels)
        words = [draw.choice(WORDS[label if draw.random() < 0.8 else draw.choice(labels)]) for _ in range(draw.randint(1, 9))]
        found.append((label, " ".join(words)))
    return found


def write_tsv(path, rows):
    path.write_text("".join(f"{label}\t{text}\n" for label, text in rows), encoding="utf-8")
    return str(path)


def written(folder, format, rows):
    path = folder / f"mail.{format}"
    if format == "svmlight":
        path.write_text("".join(f"{1 if label == 'spam' else -1} {len(text)}:1 200:0.5\n" for label, text in rows))
    elif format == "vw":
        path.write_text("".join(f"{1 if label == 'spam' else -1} | {text}\n" for label, text in rows))
    elif format == "tsv":
        write_tsv(path, rows)
    elif format == "fasttext":
        path.write_text("".join(f"__label__{label} {text}\n" for label, text in rows))
    elif format == "csv":
        path.write_text("label,text\n" + "".join(f"{label},{text}\n" for label, text in rows))
    elif format == "jsonl":
        path.write_text("".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in rows))
    else:
        pa = pytest.importorskip("pyarrow")
        table = pa.table({"label": [label for label, _ in rows], "text": [text for _, text in rows]})
        if format == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
    return path
