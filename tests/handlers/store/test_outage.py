import logging
from contextlib import suppress

import pytest

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.store import StoreUnavailable
from specvino.handlers.store.outage import Outage


def test_an_outage_is_logged_once_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    outage = Outage(logging.getLogger("specvino.store"), "nothing is stored", "all is stored again")
    gone, ours = StoreUnavailable("no disk"), ValueError("a mistake of ours shows nothing about the store")
    refused = ApiError(ErrorCode.RATE_LIMIT_EXCEEDED, "the limit is reached")
    for error in (None, gone, gone, None, None, gone, ours, gone, refused):
        with suppress(StoreUnavailable, ValueError, ApiError), outage.noticed():
            if error:
                raise error
    assert caplog.messages == [
        "nothing is stored: no disk",
        "all is stored again",
        "nothing is stored: no disk",
        "all is stored again",
    ]
