"""The Python interface of the lock."""

from contextlib import AbstractContextManager

class Lock:
    """A lock for one learning call at a time: a second one gets a RuntimeError; copies wait. A copy of the lock is free."""

    def __init__(self, who: str) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...
    def copying(self) -> AbstractContextManager[None]:
        """Return the context in which no other thread changes the model."""
    def give_way(self) -> None:
        """Release the lock of a learning call until the copies that wait for it have been made, and take it again."""
    @property
    def n_waiting(self) -> int:
        """Number of threads that wait for the lock."""
