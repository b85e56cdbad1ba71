from .._hashing.sketch import Names

class Crossing:
    def __init__(
        self, left_out: bytes, ngrams: bytes, skips: bytes, interactions: list[bytes], n_features: int, names: Names | None = None
    ) -> None: ...
