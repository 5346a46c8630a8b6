"""What the reference server refuses a request with."""

from typing import Any

from specvino.generated.errors import ERRORS, ErrorCode


class Refusal(Exception):
    """`param` is the field at fault, as a dotted path."""

    def __init__(self, code: ErrorCode, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param

    @property
    def status(self) -> int:
        return ERRORS[self.code].status

    @property
    def error(self) -> dict[str, Any]:
        """The error object."""
        return {
            "message": self.message,
            "type": ERRORS[self.code].type,
            "param": self.param,
            "code": self.code.value,
        }
