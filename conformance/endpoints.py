"""What all systems have in common: the paths of endpoints, and the names of their token limits and counts."""

from functools import cache

from specvino.document.loading import whole
from specvino.document.operations import by_endpoint

# The fields that limit the tokens of an answer, by endpoint; where a request has several, the last one counts.
LIMITS = {
    "chat": ("max_tokens", "max_completion_tokens"),
    "completions": ("max_tokens",),
    "responses": ("max_output_tokens",),
}

# The counts in `usage` of the prompt's and the answer's tokens, by endpoint.
COUNTS = {
    "chat": ("prompt_tokens", "completion_tokens"),
    "completions": ("prompt_tokens", "completion_tokens"),
    "responses": ("input_tokens", "output_tokens"),
}


@cache
def paths() -> dict[str, str]:
    """Returns, by endpoint, the paths below the base that are the same for every request."""
    return {
        name: operation.path
        for name, operation in by_endpoint(whole()).items()
        if "{" not in operation.path and not operation.is_also_at_root
    }
