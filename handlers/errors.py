"""The error that reaches a client, and what an engine's error becomes."""

from collections.abc import Iterator
from contextlib import contextmanager

from specvino.engine import errors as engine
from specvino.generated import wire
from specvino.generated.errors import ERRORS, ErrorCode, ErrorKind


class ApiError(Exception):
    """An answer with an error: in the body before the first byte, as an event after it.

    `message` is for people: it names the value refused and what is accepted. `param` is the field at fault as a
    dotted path. `retry_after` is in seconds.
    """

    def __init__(
        self, code: ErrorCode, message: str, *, param: str | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param
        self.retry_after = retry_after

    @property
    def kind(self) -> ErrorKind:
        """The status and the type that the document gives to the code."""
        return ERRORS[self.code]

    def body(self) -> wire.ErrorResponse:
        """Returns the body of an answer that is this error."""
        return {
            "error": {
                "message": self.message,
                "type": self.kind.type.value,
                "param": self.param,
                "code": self.code.value,
            }
        }

    def event(self, sequence_number: int) -> wire.ResponseErrorEvent:
        """Returns the last event of a stream whose events have types."""
        return {
            "type": "error",
            "code": self.code.value,
            "message": self.message,
            "param": self.param,
            "sequence_number": sequence_number,
        }


@contextmanager
def engine_errors(prompt: str) -> Iterator[None]:
    """Makes ApiErrors of an engine's errors that are meant for the client; others are faults of the server.

    `prompt` names the field that holds the prompt.
    """
    try:
        yield
    except engine.ContextLengthExceeded as error:
        raise ApiError(ErrorCode.CONTEXT_LENGTH_EXCEEDED, str(error), param=prompt) from error
    except engine.PromptError as error:
        raise ApiError(ErrorCode.INVALID_PROMPT, str(error), param=prompt) from error
    except engine.EngineBusy as error:
        raise ApiError(ErrorCode.RATE_LIMIT_EXCEEDED, str(error), retry_after=error.retry_after) from error
    except engine.EngineUnavailable as error:
        raise ApiError(ErrorCode.ENGINE_UNAVAILABLE, str(error), retry_after=error.retry_after) from error
    except engine.EngineRestarted as error:
        raise ApiError(ErrorCode.ENGINE_RESTARTED, str(error), retry_after=1) from error
