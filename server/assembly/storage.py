"""Persistent storage: stored responses, and the encryption key."""

import logging
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from platformdirs import user_data_path

from specvino.engine.errors import WrongInput
from specvino.handlers.encryption import Cipher
from specvino.handlers.store import NoStore, ResponseStore

# A file is on the server's own disk, so what a key stores is limited. Databases are managed by their owners.
_MOST_IN_A_FILE = 10_000
_GB_IN_A_FILE = 1.0

logger = logging.getLogger("specvino.server")


class StorageError(Exception):
    """The store can't be used; `str()` is the reason in one line."""


class WrongStore(WrongInput, StorageError):
    """Its URL is at fault, or what is there; another try won't change that."""


def folder() -> Path:
    """Returns the data folder, which the environment variable SPECVINO_DATA overrides."""
    return Path(os.environ.get("SPECVINO_DATA") or user_data_path("specvino"))


class Kept(NamedTuple):
    """For how many `days` responses and conversations are kept, and how many `gb` of each API key; None is no limit."""

    days: float | None
    gb: float | None


def response_store(
    choice: str | None, days: float, gb: float | None, of_keys: Callable[[Kept], Mapping[str, Kept]] = lambda _: {}
) -> ResponseStore:
    """Returns the store for the value of `--response-store`: none, a database's URL, or None for a file of the user.
    It keeps responses and conversations for some `days`, and of each API key up to so many `gb`. `of_keys` returns what
    is kept of owners that have limits of their own, from those of all others. Raises StorageError."""
    if choice == "none":
        return NoStore()
    # Importing SQLAlchemy and Alembic takes half a second.
    from specvino.handlers.store.quota import Quota, Retention
    from specvino.handlers.store.sql import SqlStore

    in_a_file = is_of_one_machine(choice)
    if gb is None and in_a_file:
        gb = _GB_IN_A_FILE
    kept = Kept(days, gb)
    most = _MOST_IN_A_FILE if in_a_file else None

    def retention(kept: Kept) -> Retention:
        quota = None if kept.gb is None or math.isinf(kept.gb) else Quota(most, int(kept.gb * 1e9))
        return Retention(math.inf if kept.days is None else kept.days, quota)

    own = {owner: retention(own) for owner, own in of_keys(kept).items()}
    url = choice or f"sqlite+aiosqlite:///{folder() / 'responses.db'}"
    try:
        return SqlStore(url, retention=retention(kept), own=own)
    except ValueError as error:
        raise WrongStore(f"the response store can't be used: {error} (--response-store none disables it)") from error


def is_of_one_machine(choice: str | None) -> bool:
    """Returns whether a store is a file, which processes on other machines can't open."""
    return choice is None or choice.startswith("sqlite")


def cipher() -> Cipher:
    """Returns a cipher with the installation's key.

    If the key can't be stored, data encrypted now can't be decrypted after a restart.
    """
    file = folder() / "sealing.key"
    try:
        return Cipher.from_file(file)
    except (OSError, ValueError) as error:
        logger.warning(
            "the encryption key in %s can't be used; a temporary one is used until the server ends: %s", file, error
        )
        return Cipher()
