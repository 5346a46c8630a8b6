"""The end of a server's work: new requests are refused, those under way are waited for."""

from collections.abc import Iterator
from contextlib import contextmanager

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError


class Drain:
    """Counts the requests under way, and refuses new ones once it has begun. A request that came after that is none of
    those that are waited for."""

    def __init__(self) -> None:
        self.under_way = 0
        self._begun = False

    def begin(self) -> None:
        self._begun = True

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Counts a request while it is answered."""
        counts = not self._begun
        self.under_way += counts
        try:
            yield
        finally:
            self.under_way -= counts

    def require_open(self) -> None:
        """Raises ApiError once the drain has begun."""
        if self._begun:
            raise ApiError(ErrorCode.ENGINE_UNAVAILABLE, "The server is shutting down.", retry_after=1)
