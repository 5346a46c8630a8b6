"""Makes a generated request consistent.

Most requests that Schemathesis generates are refused for two fields that exclude each other, before anything else is
checked. These are repaired by the table that also judges refusals, openapi/conditions.yaml.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from specvino.conformance.fuzz.refusals.images import is_in_request, url_of
from specvino.conformance.fuzz.refusals.tools import forces, functions, named
from specvino.document.conditions import value_at
from specvino.document.loading import conditions_of

# Of a search: servers have limits, and each candidate is an answer's work.
MOST_BEAMS = 4

# 8 x 8 pixels of one colour.
IMAGE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAFUlEQVR42mO8IyLCgA0wMeAAg1MCANDoARQXWCREAAAA"
    "AElFTkSuQmCC"
)

# The types of the parts that few models can read.
_UNREAD = (
    *("image_url", "input_audio", "file", "input_image", "input_file"),
    *("video_url", "audio_url", "image_embeds", "audio_embeds", "video_embeds", "prompt_embeds"),
    *("thinking", "tool_reference"),
)


def consistent(
    body: Mapping[str, Any], endpoint: str, facts: Mapping[str, Any], *, images: bool, draw: Callable[[int], int]
) -> dict[str, Any]:
    """Returns a valid body without fields that exclude another one or need another server than one with these `facts`.

    `images` keeps images, else they become texts. `draw` decides which of two fields goes.
    """
    changed = dict(body)
    _have_tools(changed)
    _search(changed)
    conditions = conditions_of(endpoint)
    while refusal := next(conditions.refusals(partial(value_at, changed), facts), None):
        condition = next(condition for condition in conditions if condition.name == refusal.condition)
        named = refusal.param.partition(".")[0]
        others = [field for field in condition.fields if field != named and changed.get(field) is not None]
        for field in others if others and draw(2) else [named]:
            del changed[field]
    for name, text in (("messages", "text"), ("input", "input_text")):
        if name in changed:
            changed[name] = _readable(changed[name], text, images)
    return changed


def _have_tools(body: dict[str, Any]) -> None:
    if set(named(body)) <= functions(body).keys() and (not forces(body) or functions(body)):
        return
    for name in ("tool_choice", "function_call"):
        body.pop(name, None)


def _search(body: dict[str, Any]) -> None:
    """Reduces the width of a beam search; removes it if it can't be narrow."""
    if body.get("best_of") is not None:
        if (body.get("n") or 1) > MOST_BEAMS:
            del body["best_of"]
        else:
            body["best_of"] = min(body["best_of"], MOST_BEAMS)


def _readable(value: Any, text: str, images: bool) -> Any:
    """Returns the value without files and sounds, and with `images` that need not be fetched, or none. `text` is the
    type of parts that are texts."""
    if isinstance(value, list):
        return [_readable(item, text, images) for item in value]
    if not isinstance(value, Mapping):
        return value
    if value.get("type") in _UNREAD:
        url = url_of(value)
        if url is None or not images:
            return {"type": text, "text": "What is this?"}
        return value if is_in_request(url) else {**value, "image_url": {"url": IMAGE}}
    return {name: _readable(item, text, images) for name, item in value.items()}
