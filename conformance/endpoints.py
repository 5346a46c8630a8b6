"""Facts that are the same for all systems: paths of endpoints, names of token limits and counts, fields that vary."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from specvino.document.conditions import value_at
from specvino.document.loading import group, whole
from specvino.document.operations import by_endpoint
from specvino.document.pointers import resolved

# The fields of `usage`, or of the answer itself, for prompt tokens and completion tokens, by endpoint.
COUNTS = {
    "chat": ("prompt_tokens", "completion_tokens"),
    "completions": ("prompt_tokens", "completion_tokens"),
    "responses": ("input_tokens", "output_tokens"),
    "messages": ("input_tokens", "output_tokens"),
    "ollama_chat": ("prompt_eval_count", "eval_count"),
    "ollama_generate": ("prompt_eval_count", "eval_count"),
}

# Fields that are encrypted or signed anew each time that they are sent.
VARYING = ("encrypted_content", "signature")

# Fields that say something of the process that answers, and of what it did before.
OF_PROCESS = (
    *("system_fingerprint", "cached_tokens", "timings"),
    *("total_duration", "load_duration", "prompt_eval_duration", "eval_duration"),
)


@cache
def token_limits(endpoint: str) -> tuple[str, ...]:
    """Returns the fields of an endpoint's request that limit the answer's tokens: of the group `token_limits` in
    openapi/conditions.yaml. If a request has several, the last one applies.
    """
    operation = by_endpoint(whole()).get(endpoint)
    body = operation.body if operation else None
    return tuple(name for name in reversed(group("token_limits").paths) if body and has_field(whole(), body, name))


def has_field(document: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> bool:
    """Returns whether objects of a schema may have a field at a dotted path."""
    name, _, rest = path.partition(".")
    fields = resolved(document, schema).get("properties", {})
    return name in fields and (not rest or has_field(document, fields[name], rest))


def with_value(body: Mapping[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Returns a body with a value at a dotted path. What isn't an object on the way stays."""
    name, _, rest = path.partition(".")
    if not rest:
        return {**body, name: value}
    held = body.get(name)
    return {**body, name: with_value(held or {}, rest, value)} if isinstance(held, Mapping | None) else dict(body)


def with_limit(endpoint: str, body: Mapping[str, Any], tokens: int) -> dict[str, Any]:
    """Returns a body with a token limit, in the first of the endpoint's fields for it."""
    return with_value(body, token_limits(endpoint)[0], tokens)


def has_limit(endpoint: str, body: Mapping[str, Any]) -> bool:
    """Returns whether a body has a token limit."""
    return any(name in body or value_at(body, name) is not None for name in token_limits(endpoint))


def documented_path(endpoint: str) -> str:
    """Returns the path of an endpoint as the document has it."""
    return by_endpoint(whole())[endpoint].path


@cache
def paths() -> dict[str, str]:
    """Returns the paths without parameters, by endpoint, relative to the base URL; those of other systems' own APIs to
    the server's root, as their clients send them, with two leading slashes."""
    return {
        name: f"/{operation.path}" if operation.is_also_at_root else operation.path
        for name, operation in by_endpoint(whole()).items()
        if "{" not in operation.path and (operation.body or not operation.is_also_at_root)
    }
