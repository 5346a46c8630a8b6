"""Facts that are the same for all systems: paths of endpoints, names of token limits and counts, fields that vary."""

from functools import cache

from specvino.document.loading import group, whole
from specvino.document.operations import by_endpoint
from specvino.document.pointers import resolved

# The fields of `usage` for prompt tokens and completion tokens, by endpoint.
COUNTS = {
    "chat": ("prompt_tokens", "completion_tokens"),
    "completions": ("prompt_tokens", "completion_tokens"),
    "responses": ("input_tokens", "output_tokens"),
    "messages": ("input_tokens", "output_tokens"),
}

# Fields that are encrypted or signed anew each time that they are sent.
VARYING = ("encrypted_content", "signature")

# Fields that say something of the process that answers, and of what it did before.
OF_PROCESS = ("system_fingerprint", "cached_tokens", "timings")


@cache
def token_limits(endpoint: str) -> tuple[str, ...]:
    """Returns the fields of an endpoint's request that limit the answer's tokens: of the group `token_limits` in
    openapi/conditions.yaml. If a request has several, the last one applies.
    """
    operation = by_endpoint(whole()).get(endpoint)
    fields = resolved(whole(), operation.body).get("properties", {}) if operation and operation.body else {}
    return tuple(name for name in reversed(group("token_limits").paths) if name in fields)


@cache
def paths() -> dict[str, str]:
    """Returns the paths without parameters, by endpoint, relative to the base URL."""
    return {
        name: operation.path
        for name, operation in by_endpoint(whole()).items()
        if "{" not in operation.path and not operation.is_also_at_root
    }
