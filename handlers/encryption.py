"""Encryption with a key of the installation, for reasoning that clients store but can't read or change."""

import os
import tempfile
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError


class NotDecryptable(Exception):
    """The text was not encrypted with this key, or was changed afterwards."""


class Cipher:
    """Encrypts texts with a key; without one, with a new key that is lost when the process ends."""

    def __init__(self, key: bytes | None = None) -> None:
        """Raises ValueError for an invalid key."""
        self._fernet = Fernet(key or Fernet.generate_key())

    @classmethod
    def from_file(cls, file: Path) -> "Cipher":
        """Uses the key in a file, which is created if it doesn't exist. Raises OSError, and ValueError for an invalid
        key."""
        if not file.exists():
            _create(file)
        return cls(file.read_bytes().strip())

    def encrypt(self, text: str) -> str:
        """Returns the encrypted text, in ASCII characters."""
        return self._fernet.encrypt(text.encode()).decode("ascii")

    def decrypt(self, encrypted: str) -> str:
        """Returns the text that was encrypted. Raises NotDecryptable."""
        try:
            return self._fernet.decrypt(encrypted.encode()).decode()
        except InvalidToken:
            raise NotDecryptable from None

    def require(self, encrypted: str, param: str) -> str:
        """Returns the text that was encrypted, in the field `param` of a request. Raises ApiError."""
        try:
            return self.decrypt(encrypted)
        except NotDecryptable:
            advice = "Send it as the server returned it, or leave it out."
            subject = param if param.endswith(".encrypted_content") else f"The encrypted_content of an item in {param}"
            message = f"{subject} was not encrypted by this server, or was changed. {advice}"
            raise ApiError(ErrorCode.INVALID_ENCRYPTED_CONTENT, message, param=param) from None


def _create(file: Path) -> None:
    """Writes a new key file atomically; if another server has created one meanwhile, that one stays."""
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=file.parent)  # for the owner only
    try:
        with os.fdopen(descriptor, "wb") as new:
            new.write(Fernet.generate_key())
        os.link(name, file)
    except FileExistsError:
        pass
    finally:
        os.unlink(name)
