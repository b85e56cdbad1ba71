"""What Python sees of the compiled module."""

from ._lines import EntryParser

class VWParser(EntryParser): ...
