"""One line in the log when something is lost, and one when it is back, however often it is tried between them."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from specvino.handlers.errors import ApiError
from specvino.handlers.store.protocol import StoreUnavailable


class Outage:
    """The time during which a store can't be used. `begins` and `ends` say, for the operator, what that means."""

    def __init__(self, logger: logging.Logger, begins: str, ends: str) -> None:
        self._logger = logger
        self._begins = begins
        self._ends = ends
        self._lasts = False

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Notices whether the store can be used in this context. Raises StoreUnavailable as it is, and other errors as
        they are: an ApiError shows that the store can be used, and any other shows nothing."""
        try:
            yield
        except StoreUnavailable as error:
            if not self._lasts:
                self._logger.warning("%s: %s", self._begins, error)
            self._lasts = True
            raise
        except ApiError:
            self._end()  # a refused request: the store was asked
            raise
        self._end()

    def _end(self) -> None:
        if self._lasts:
            self._logger.info(self._ends)
        self._lasts = False
