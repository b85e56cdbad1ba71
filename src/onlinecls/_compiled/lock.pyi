"""What Python sees of the lock."""

from contextlib import AbstractContextManager

class Lock:
    """Held by one learning call at a time, a second one gets a RuntimeError; copies wait. A copy of the lock is free."""

    def __init__(self, who: str) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...
    def copying(self) -> AbstractContextManager[None]:
        """Return the context in which no other thread changes the model."""
    def give_way(self) -> None:
        """Let those who wait for the learning call that holds the lock make their copies, and take it again."""
    @property
    def n_waiting(self) -> int:
        """Threads that wait for the lock."""
