"""Errors for clients, conversion of the engine's errors, and the fields without effect in a reply."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from specvino.engine import errors as engine
from specvino.generated import wire
from specvino.generated.errors import ERRORS, ErrorCode, ErrorKind
from specvino.generated.handlers import RequestContext

_PROMPT_ERRORS = {
    engine.ChatTemplateError: ErrorCode.CHAT_TEMPLATE_ERROR,
    engine.ContextLengthExceeded: ErrorCode.CONTEXT_LENGTH_EXCEEDED,
    engine.EmptyPrompt: ErrorCode.EMPTY_PROMPT,
    engine.TextTooLong: ErrorCode.TEXT_TOO_LONG,
}


class ApiError(Exception):
    """An error for the client: the body of the response before its first byte, an event of the stream after it.

    `message` is for people: it names the invalid value and the accepted ones. `param` is the field at fault, as a
    dotted path. `reason` is a finer code, for which the Messages API has a place. `retry_after` is in seconds.
    `loading` is how far the model's start is.
    """

    def __init__(
        self,
        code: ErrorCode,
        message: str,
        *,
        param: str | None = None,
        reason: str | None = None,
        retry_after: int | None = None,
        loading: wire.Loading | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.param = param
        self.reason = reason
        self.retry_after = retry_after
        self.loading = loading

    @property
    def kind(self) -> ErrorKind:
        """The status and the type that the document gives to the code."""
        return ERRORS[self.code]

    def body(self) -> wire.ErrorResponse:
        """Returns the error as the body of a response."""
        error: wire.Error = {
            "message": self.message,
            "type": self.kind.type.value,
            "param": self.param,
            "code": self.code.value,
        }
        if self.loading is not None:
            error["loading"] = self.loading
        return {"error": error}

    def anthropic_body(self, request_id: str) -> wire.AnthropicErrorResponse:
        """Returns the error as Anthropic's API sends it, in a response and in a stream, with its code and field."""
        error: wire.AnthropicError = {
            "type": self.kind.anthropic_type,
            "message": self.message,
            "param": self.param,
            "code": self.code.value,
        }
        if self.reason is not None:
            error["details"] = {"error_code": self.reason, "unsupported": [self.param] if self.param else []}
        return {"type": "error", "error": error, "request_id": request_id}

    def ollama_body(self) -> wire.OllamaErrorResponse:
        """Returns the error as Ollama's own API sends it, with its code and field."""
        return {"error": self.message, "param": self.param, "code": self.code.value}

    def event(self, sequence_number: int) -> wire.ResponseErrorEvent:
        """Returns the error as the last event of a stream whose events have types."""
        return {
            "type": "error",
            "code": self.code.value,
            "message": self.message,
            "param": self.param,
            "sequence_number": sequence_number,
        }


@contextmanager
def engine_errors(prompt: str) -> Iterator[None]:
    """Converts the engine's errors for clients to ApiErrors; other errors are faults of the server.

    `prompt` is the field that contains the prompt.
    """
    try:
        yield
    except engine.PromptError as error:
        code = _PROMPT_ERRORS.get(type(error), ErrorCode.INVALID_PROMPT)
        raise ApiError(code, str(error), param=prompt) from error
    except engine.InsufficientMemory as error:
        raise ApiError(ErrorCode.INSUFFICIENT_MEMORY, str(error)) from error
    except engine.EngineBusy as error:
        raise ApiError(ErrorCode.RATE_LIMIT_EXCEEDED, str(error), retry_after=error.retry_after) from error
    except engine.EngineUnavailable as error:
        raise ApiError(ErrorCode.ENGINE_UNAVAILABLE, str(error), retry_after=error.retry_after) from error
    except engine.EngineRestarted as error:
        raise ApiError(ErrorCode.ENGINE_RESTARTED, str(error), retry_after=1) from error


def reported(context: RequestContext, params: Iterable[str]) -> tuple[str, ...]:
    """Returns the fields without effect, for the reply. Raises ApiError for the first one if the server rejects such
    fields.
    """
    names = tuple(params)
    if names and context.refuses_unsupported:
        message = f"This server doesn't support this value of {names[0]}."
        raise ApiError(ErrorCode.UNSUPPORTED_PARAMETER, message, param=names[0])
    return names


def unsupported_content(kind: str, param: str) -> ApiError:
    """Returns the error for a part that the model can't read. Dropping it would change the question."""
    message = f"{param} is of the type {kind}, which the served model can't read."
    return ApiError(ErrorCode.UNSUPPORTED_CONTENT, message, param=param)
