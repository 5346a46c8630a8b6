"""The storage of a server on the disk: stored responses, and the key with which it encrypts."""

import logging
import os
from pathlib import Path

from platformdirs import user_data_path

from specvino.handlers.encryption import Cipher
from specvino.handlers.store import NoStore, ResponseStore
from specvino.handlers.store.sql import SqlStore

# A file is on the disk of the machine that serves, so it doesn't grow for ever. Of a database its owner takes care.
MOST_RESPONSES_IN_A_FILE = 10_000

logger = logging.getLogger("specvino.server")


class StorageError(Exception):
    """The store can't be used; `str()` says why in one line."""


def folder() -> Path:
    """Returns the folder of what is kept; the environment variable SPECVINO_DATA moves it."""
    return Path(os.environ.get("SPECVINO_DATA") or user_data_path("specvino"))


def response_store(choice: str | None) -> ResponseStore:
    """Returns the store that `--response-store` asks for: none, that of a database's URL, or without it a file of the
    user's. Raises StorageError."""
    if choice == "none":
        return NoStore()
    url = choice or f"sqlite+aiosqlite:///{folder() / 'responses.db'}"
    try:
        return SqlStore(url, most=MOST_RESPONSES_IN_A_FILE if is_of_one_machine(choice) else None)
    except ValueError as error:
        raise StorageError(f"the response store can't be used: {error} (--response-store none does without)") from error


def is_of_one_machine(choice: str | None) -> bool:
    """Tells whether a store is a file, which processes elsewhere can't open."""
    return choice is None or choice.startswith("sqlite")


def cipher() -> Cipher:
    """Returns a cipher with the installation's key.

    Where that can't be kept, what is encrypted now can't be decrypted after a restart.
    """
    file = folder() / "sealing.key"
    try:
        return Cipher.from_file(file)
    except (OSError, ValueError) as error:
        logger.warning("the key in %s can't be used, so a new one holds until the server ends: %s", file, error)
        return Cipher()
