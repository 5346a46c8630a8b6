"""The accounts of keys in memory, where no other server shares them."""

import time
from collections.abc import Callable
from dataclasses import replace

from specvino.handlers.store.protocol import Account


class OwnAccounts:
    """Accounts (`Accounts`) in the memory of this server, by owner. `clock` returns Unix seconds."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.accounts: dict[str, Account] = {}

    async def change(self, owner: str, act: Callable[[Account], None]) -> None:
        account = replace(self.accounts.get(owner, Account()), now=self._clock())
        act(account)
        self.accounts[owner] = account
