"""Makes generated requests consistent. Most would be refused for two fields that exclude each other; these are repaired
by `openapi/conditions.yaml`, which also justifies refusals."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from specvino.conformance.fuzz.refusals.images import is_in_request, url_of, with_image
from specvino.conformance.fuzz.refusals.tools import callable_tools, forces, matched, named, with_known_tools
from specvino.document.conditions import value_at
from specvino.document.loading import conditions_of

# The largest beam width: servers have limits, and each beam costs as much as an answer.
MOST_BEAMS = 4

# A PNG of 8 x 8 pixels in one color.
IMAGE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFUlEQVR42mO8IyLCgA0wMeAAg1MCANDoARQXWCREAAAA"
    "AElFTkSuQmCC"
)

# The fields of which a body must have one, and the value of the first one if a repair removed them.
_PROMPTS: Mapping[str, tuple[tuple[str, ...], Any]] = {
    "completions": (("prompt",), "Hello"),
    "detokenize": (("tokens",), [1]),
    "tokenize": (("text", "prompt", "content", "messages"), "Hello"),
}

# Types of content parts that few models support.
_UNSUPPORTED_PARTS = (
    *("image_url", "input_audio", "file", "input_image", "input_file"),
    *("video_url", "audio_url", "image_embeds", "audio_embeds", "video_embeds", "prompt_embeds"),
    *("thinking", "redacted_thinking", "tool_reference", "image", "server_tool_use", "web_search_tool_result"),
)


def consistent(
    body: Mapping[str, Any], endpoint: str, facts: Mapping[str, Any], *, images: bool, draw: Callable[[int], int]
) -> dict[str, Any]:
    """Returns a valid body without fields that exclude others or that a server with these `facts` doesn't support. With
    `images`, images stay; otherwise they become text. `draw` decides which of two fields is removed."""
    changed = dict(body)
    _require_tools(changed)
    _limit_beams(changed)
    conditions = conditions_of(endpoint)
    while refusal := next(conditions.refusals(partial(value_at, changed), facts), None):
        condition = next(condition for condition in conditions if condition.name == refusal.condition)
        named = refusal.param.partition(".")[0]
        others = [field for field in condition.fields if field != named and changed.get(field) is not None]
        for field in others if others and draw(2) else [named]:
            del changed[field]
    fields, prompt = _PROMPTS.get(endpoint, ((), None))
    if fields and all(changed.get(field) is None for field in fields):
        changed[fields[0]] = prompt
    if not images:
        changed.pop("images", None)
    for name, text in (("messages", "text"), ("input", "input_text")):
        if name in changed:
            changed[name] = _with_supported_parts(changed[name], text, images)
    if endpoint == "compact":  # where it is optional
        changed.setdefault("input", None)
    if not changed.get("input", "absent") and not changed.get("previous_response_id"):
        changed["input"] = "Hello"
    if endpoint in ("messages", "count_tokens"):
        changed["messages"] = matched(with_known_tools(changed)["messages"])
    return changed


def _require_tools(body: dict[str, Any]) -> None:
    tools = callable_tools(body)
    if set(named(body)) <= tools and (not forces(body) or tools):
        return
    for name in ("tool_choice", "function_call"):
        body.pop(name, None)


def _limit_beams(body: dict[str, Any]) -> None:
    """Reduces the width of a beam search; removes it if it can't be narrow."""
    if body.get("best_of") is not None:
        if (body.get("n") or 1) > MOST_BEAMS:
            del body["best_of"]
        else:
            body["best_of"] = min(body["best_of"], MOST_BEAMS)


def _with_supported_parts(value: Any, text: str, images: bool) -> Any:
    """Returns the value without files and audio, and with `images` only in the request itself, or none. `text` is the
    type of text parts."""
    if isinstance(value, list):
        return [_with_supported_parts(item, text, images) for item in value]
    if not isinstance(value, Mapping):
        return value
    if value.get("type") in _UNSUPPORTED_PARTS:
        url = url_of(value)
        if url is None or not images:
            return {"type": text, "text": "What is this?"}
        return value if is_in_request(url) else with_image(value, IMAGE)
    # The tool of a change is no part.
    return {
        name: item if name == "tool" else _with_supported_parts(item, text, images)
        for name, item in value.items()
        if images or name != "images"
    }
