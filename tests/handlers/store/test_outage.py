import logging
from contextlib import suppress

import pytest

from specvino.handlers.store import StoreUnavailable
from specvino.handlers.store.outage import Outage


def test_an_outage_is_logged_once_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    outage = Outage(logging.getLogger("specvino.store"), "nothing is stored", "all is stored again")
    for fails in (False, True, True, False, False, True):
        with suppress(StoreUnavailable), outage.noticed():
            if fails:
                raise StoreUnavailable("no disk")
    assert caplog.messages == [
        "nothing is stored: no disk",
        "all is stored again",
        "nothing is stored: no disk",
    ]
