"""The Python interface of the lock."""

from collections.abc import Callable
from contextlib import AbstractContextManager

class Lock:
    """A lock for one learning call at a time: a second one gets a RuntimeError; copies wait. A copy of the lock is free."""

    def __init__(self, who: str) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...
    @property
    def sequence(self) -> int:
        """Number that is odd while a learning call changes several objects, and another one afterwards."""
    def begin_change(self) -> None:
        """Make `sequence` odd until the end of the learning call."""
    def copying(self) -> AbstractContextManager[None]:
        """Return the context in which no other thread changes the model."""
    def give_way(self) -> None:
        """Release the lock of a learning call until the copies that wait for it have been made, and take it again."""
    @property
    def n_waiting(self) -> int:
        """Number of threads that wait for the lock."""

def learn_together(
    learn: Callable[[], object], commits: list[Callable[[], object]], recover: Callable[[], list[Callable[[], object]]]
) -> None:
    """Run learn(), then all commits, or those of recover() if learn() raises; Ctrl-C in them is raised at the end."""
