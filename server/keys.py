"""Bearer keys: read from a file or the environment, compared in constant time."""

import hmac
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from connexion.security import AbstractSecurityHandler

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError

ENVIRONMENT = "SPECVINO_API_KEY"
METRICS_ENVIRONMENT = "SPECVINO_METRICS_KEY"


class KeyFileError(Exception):
    """The file with the keys can't be used; `str()` says why in one line."""


def read_keys(file: Path | None, environment: str = ENVIRONMENT) -> frozenset[str]:
    """Returns the keys of a file, one a line, or else the one in the environment; none means that no key is needed."""
    if file is None:
        key = os.environ.get(environment, "").strip()
        return frozenset([key] if key else [])
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KeyFileError(f"the API key file {file} can't be read: {error}") from error
    keys = frozenset(line.strip() for line in lines if line.strip())
    if not keys:
        raise KeyFileError(f"the API key file {file} holds no key")
    return keys


class BearerKeys(AbstractSecurityHandler):  # type: ignore[misc]
    """Is Connexion's handler of the bearer scheme."""

    def __init__(self, keys: frozenset[str]) -> None:
        self._keys = [key.encode("utf-8") for key in keys]

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
        return {"sub": "key"}
