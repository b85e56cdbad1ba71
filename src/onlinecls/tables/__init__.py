"""Tables of any kind as rows of numbers, while they stream: `TableVectorizer`."""

# (What `__all__` does not name is for pipelines and the command line.)
from ._vectorizer import TableVectorizer, described, rebuild, slot_names  # noqa: F401

__all__ = ["TableVectorizer"]
