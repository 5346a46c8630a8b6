"""What a start says of a store that can't be used."""

import asyncio

import pytest

from specvino.engine.errors import WrongInput
from specvino.engine.scripted import ScriptedEngine
from specvino.handlers.encryption import Cipher
from specvino.handlers.limits import Limits
from specvino.handlers.media import MediaSettings
from specvino.handlers.store import NoStore, StoreUnavailable, StoreUnusable
from specvino.server.assembly import ServedApp
from specvino.server.assembly.storage import StorageError
from specvino.server.settings import Settings


class BrokenStore(NoStore):
    location = "db"

    def __init__(self, error: StoreUnavailable) -> None:
        self._error = error

    async def open(self) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "wrong"), [(StoreUnavailable("it is locked"), False), (StoreUnusable("it is no database"), True)]
)
def test_only_what_another_try_will_not_change_is_the_operator_s_mistake(error: StoreUnavailable, wrong: bool) -> None:
    """Whose exit code is 2."""
    store = BrokenStore(error)
    served = ServedApp({("m",): ScriptedEngine()}, Settings(), store, Cipher(), Limits(), MediaSettings())
    with pytest.raises(StorageError, match=f"^the response store db can't be used: {error} ") as caught:
        asyncio.run(served.start())
    assert isinstance(caught.value, WrongInput) == wrong
