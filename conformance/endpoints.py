"""Facts that are the same for all systems: paths of endpoints, names of token limits and of token counts."""

from functools import cache

from specvino.document.loading import whole
from specvino.document.operations import by_endpoint

# The request fields that limit the answer's tokens, by endpoint. If a request has several, the last one applies.
LIMITS = {
    "chat": ("max_tokens", "max_completion_tokens"),
    "completions": ("max_tokens",),
    "responses": ("max_output_tokens",),
    "messages": ("max_tokens",),
}

# The fields of `usage` for prompt tokens and completion tokens, by endpoint.
COUNTS = {
    "chat": ("prompt_tokens", "completion_tokens"),
    "completions": ("prompt_tokens", "completion_tokens"),
    "responses": ("input_tokens", "output_tokens"),
    "messages": ("input_tokens", "output_tokens"),
}


@cache
def paths() -> dict[str, str]:
    """Returns the paths without parameters, by endpoint, relative to the base URL."""
    return {
        name: operation.path
        for name, operation in by_endpoint(whole()).items()
        if "{" not in operation.path and not operation.is_also_at_root
    }
