"""Requests that are valid but ask for what can't be left out without changing what the answer means."""

from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import RequestContext
from specvino.handlers.errors import ApiError


def without_effect(context: RequestContext, param: str) -> None:
    """Reports a field without effect in this request; raises ApiError where the server was told to refuse those."""
    if context.refuses_unsupported:
        raise ApiError(ErrorCode.UNSUPPORTED_PARAMETER, f"This server can't honour {param} as given.", param=param)
    context.unsupported.append(param)


def unsupported_content(kind: str, param: str) -> ApiError:
    """A part that the model can't read: an answer without it would be one to another question."""
    message = f"{param} is of the type {kind}, which the served model can't read."
    return ApiError(ErrorCode.UNSUPPORTED_CONTENT, message, param=param)
