"""Bearer keys: read from a file or the environment, compared in constant time."""

import hashlib
import hmac
import logging
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from connexion.security import AbstractSecurityHandler

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

ENVIRONMENT = "SPECVINO_API_KEY"
METRICS_ENVIRONMENT = "SPECVINO_METRICS_KEY"

logger = logging.getLogger("specvino.server")


class KeyFileError(Exception):
    """The file with the keys, or the variable, can't be used; `str()` says why in one line."""


def read_keys(file: Path | None, environment: str = ENVIRONMENT) -> frozenset[str]:
    """Returns the keys of a file, one a line, or else the one in the environment; none means that no key is needed.

    A key that is blank is a mistake, and never taken for none. Raises KeyFileError.
    """
    if file is None:
        key = os.environ.get(environment)
        if key is not None and not key.strip():
            raise KeyFileError(f"the environment variable {environment} is blank: give it a key, or unset it")
        return frozenset() if key is None else frozenset([key.strip()])
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        mode = stat.S_IMODE(file.stat().st_mode)
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(f"the API key file {file} can't be read: {error}") from error
    keys = frozenset(key for line in lines if (key := line.strip()) and not key.startswith("#"))
    if not keys:
        raise KeyFileError(f"the API key file {file} holds no key")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        logger.warning("other users can open the API key file %s (mode %03o): chmod 600 keeps them out", file, mode)
    return keys


def owner(key: bytes) -> str:
    """Returns a name for whom a key belongs to, which doesn't tell the key, for what is stored."""
    return hashlib.sha256(b"specvino owner\0" + key).hexdigest()[:32]


class BearerKeys(AbstractSecurityHandler):  # type: ignore[misc]
    """Is Connexion's handler of the bearer scheme."""

    def __init__(self, keys: frozenset[str]) -> None:
        self._keys = [key.encode("utf-8") for key in keys]
        self._owners = [owner(key) for key in self._keys]

    def get_fn(self, security_scheme: dict[str, Any], required_scopes: list[str]) -> Callable[[Any], dict[str, str]]:
        return self._check

    def _check(self, request: Any) -> dict[str, str]:
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not key.strip():
            message = "This server needs an API key, sent as 'Authorization: Bearer KEY'."
            raise ApiError(ErrorCode.INVALID_API_KEY, message)
        # The header is latin-1 on the wire; all keys are compared, so that the time says nothing about which fits.
        given = key.strip().encode("latin-1", "replace")
        fits = [hmac.compare_digest(given, known) for known in self._keys]
        if not any(fits):
            raise ApiError(ErrorCode.INVALID_API_KEY, "The API key is not one that this server accepts.")
        # Of the state that the whole exchange shares, as a handler's context is made of it.
        request.scope.setdefault("state", {})["owner"] = self._owners[fits.index(True)]
        return {"sub": "key"}
