"""Streams of rows from files of any size, in bounded memory: `read`.

Examples of a line in each format:

    svmlight        +1 qid:7 3:0.5 17:1e-3 # note
    vw              -1 2.5 'tag|title:2 cheap pills |body price:9.5 color:red
    tsv             spam<TAB>Cheap pills, buy now
    fasttext        __label__spam Cheap pills, buy now
    csv             label,text  and then  spam,"Cheap pills, buy now"
    jsonl           {"label": "spam", "text": "Cheap pills"}  or  {"label": 1, "price": 9.5, "color": "red"}
    parquet, arrow  columns label and text, or label and others
"""

from ._blocks import MalformedLineError
from ._read import options_of, read
from ._stream import Batch, Stream

__all__ = ["Batch", "MalformedLineError", "Stream", "options_of", "read"]
