"""Makes a request agree with itself.

What Schemathesis puts together by chance is mostly refused for two of its fields that exclude each other, long before
anything else of it is looked at.
"""

from collections.abc import Mapping
from typing import Any

from specvino.conformance.fuzz.refusals.images import is_in_request, url_of
from specvino.conformance.fuzz.refusals.structured_outputs import structured_output_fields
from specvino.conformance.fuzz.refusals.tools import forces, functions, named
from specvino.conformance.fuzz.refusals.values import DRAFTING, PENALTIES, RESERVED

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


def consistent(body: Mapping[str, Any], *, images: bool) -> dict[str, Any]:
    """Returns a valid body without what excludes something else in it, or needs a server that was started with more;
    its `images` stay as images or become texts."""
    changed: dict[str, Any] = {name: value for name, value in body.items() if name not in DRAFTING}
    if changed.get("functions") and changed.get("tools"):
        del changed["functions"]
    _have_tools(changed)
    for name in list(structured_output_fields(changed))[:-1]:
        changed.pop(name.partition(".")[0], None)
    if forces(changed) or any(structured_output_fields(changed)):
        changed.pop("ignore_eos", None)
        changed.pop("min_tokens", None)
    _search(changed)
    if isinstance(variables := changed.get("chat_template_kwargs"), dict):
        kept = {name: value for name, value in variables.items() if name not in RESERVED}
        if not isinstance(kept.get("add_generation_prompt"), bool | None):
            del kept["add_generation_prompt"]
        changed["chat_template_kwargs"] = kept
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
    """Changes a beam search so that it has as many candidates as answers or more, and no penalties, least length,
    structured output or forced call."""
    best_of = body.get("best_of")
    if best_of is None:
        return
    n = body.get("n") or 1
    if forces(body) or any(structured_output_fields(body)) or n > MOST_BEAMS:
        del body["best_of"]
        return
    body["best_of"] = max(n, min(best_of, MOST_BEAMS))
    if body["best_of"] > 1:
        for name in (*PENALTIES, "min_tokens"):
            body.pop(name, None)


def _readable(value: Any, text: str, images: bool) -> Any:
    """Returns the value without files and sounds, and with `images` that need not be fetched, or none. `text` is the
    type of parts that are texts."""
    if isinstance(value, list):
        return [_readable(each, text, images) for each in value]
    if not isinstance(value, Mapping):
        return value
    if value.get("type") in _UNREAD:
        url = url_of(value)
        if url is None or not images:
            return {"type": text, "text": "What is this?"}
        return value if is_in_request(url) else {**value, "image_url": {"url": IMAGE}}
    return {name: _readable(each, text, images) for name, each in value.items()}
