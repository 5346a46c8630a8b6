"""The error that reaches a client, and what an engine's error becomes."""

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
        return ERRORS[self.code]

    def body(self) -> wire.ErrorResponse:
        return {
            "error": {
                "message": self.message,
                "type": self.kind.type.value,
                "param": self.param,
                "code": self.code.value,
            }
        }


# The engine's errors that are meant for the client; any other one is a fault of the server.
EngineAnswer = (engine.PromptError, engine.EngineUnavailable, engine.EngineRestarted)


def from_engine(error: engine.PromptError | engine.EngineUnavailable | engine.EngineRestarted, prompt: str) -> ApiError:
    """An engine's error as the client shall see it; `prompt` names the field that holds the prompt."""
    match error:
        case engine.ContextLengthExceeded():
            return ApiError(ErrorCode.CONTEXT_LENGTH_EXCEEDED, str(error), param=prompt)
        case engine.PromptError():
            return ApiError(ErrorCode.INVALID_PROMPT, str(error), param=prompt)
        case engine.EngineUnavailable():
            return ApiError(ErrorCode.ENGINE_UNAVAILABLE, str(error), retry_after=error.retry_after)
        case engine.EngineRestarted():
            return ApiError(ErrorCode.ENGINE_RESTARTED, str(error), retry_after=1)
