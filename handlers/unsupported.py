"""What a valid request asks for in vain: fields without effect in it, and content that the model can't read."""

from collections.abc import Iterable

from specvino.generated.errors import ErrorCode
from specvino.generated.handlers import RequestContext
from specvino.handlers.errors import ApiError


def reported(context: RequestContext, params: Iterable[str]) -> tuple[str, ...]:
    """Returns the fields without effect, for the reply. Raises ApiError for the first where the server refuses such."""
    found = tuple(params)
    if found and context.refuses_unsupported:
        message = f"This server doesn't support {found[0]} as given."
        raise ApiError(ErrorCode.UNSUPPORTED_PARAMETER, message, param=found[0])
    return found


def unsupported_content(kind: str, param: str) -> ApiError:
    """Makes the error for a part that the model can't read: an answer without it would be one to another question."""
    message = f"{param} is of the type {kind}, which the served model can't read."
    return ApiError(ErrorCode.UNSUPPORTED_CONTENT, message, param=param)
