"""The response that a stream of response events amounts to, made independently of any server."""

import copy
from typing import Any

# What nobody knows before the end: of a response, and of an output item.
RESPONSE_END = ("status", "completed_at", "incomplete_details", "error", "usage")
ITEM_END = ("status", "encrypted_content")

Item = dict[str, Any]


def fold_response(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the response object, rebuilt from the events before the last one.

    The settings are those of `response.created`; the items begin as they were added and grow by their parts and deltas.
    Only what can't be known earlier is taken from the event that closes an item or ends the response. The last event
    must be one that has the response, which `error` has not. An event that doesn't say what it is about, which is for
    other rules to tell, is taken to be about the newest item and part; so are settings that only come at the end.
    """
    response: dict[str, Any] = copy.deepcopy({**events[-1]["response"], **events[0]["response"]})
    items: dict[int, Item] = {}
    for event in events:
        if event["type"] == "response.output_item.added":
            items[event.get("output_index", len(items))] = copy.deepcopy(event["item"])
        elif items:
            _grow(items[event.get("output_index", max(items))], event)
    response["output"] = [items[index] for index in sorted(items)]
    _take(response, events[-1]["response"], RESPONSE_END)
    if response.get("text") is None:  # some systems say the form of the text at the end alone
        _take(response, events[-1]["response"], ("text",))
    return response


def _grow(item: Item, event: dict[str, Any]) -> None:
    match event["type"]:
        case "response.content_part.added":
            item["content"] = [*(item.get("content") or []), copy.deepcopy(event["part"])]
        case "response.reasoning_summary_part.added":
            item["summary"] = [*(item.get("summary") or []), copy.deepcopy(event["part"])]
        case "response.output_text.delta":
            part = item["content"][event.get("content_index", -1)]
            part["text"] += event["delta"]
            if "logprobs" in part:
                part["logprobs"] = [*(part["logprobs"] or []), *copy.deepcopy(event.get("logprobs") or [])]
        case "response.output_text.done":
            # Tokens without text, as the one that ends a turn, have no delta to come with.
            part = item["content"][event.get("content_index", -1)]
            if "logprobs" in part:
                known = part["logprobs"] or []
                part["logprobs"] = [*known, *copy.deepcopy((event.get("logprobs") or [])[len(known) :])]
        case "response.output_text.annotation.added":
            item["content"][event.get("content_index", -1)]["annotations"].append(event["annotation"])
        case "response.refusal.delta":
            item["content"][event.get("content_index", -1)]["refusal"] += event["delta"]
        case "response.reasoning_text.delta":
            item["content"][event.get("content_index", -1)]["text"] += event["delta"]
        case "response.reasoning_summary_text.delta":
            item["summary"][event.get("summary_index", -1)]["text"] += event["delta"]
        case "response.function_call_arguments.delta":
            item["arguments"] += event["delta"]
        case "response.output_item.done":
            _take(item, event["item"], ITEM_END)


def _take(whole: dict[str, Any], end: dict[str, Any], fields: tuple[str, ...]) -> None:
    whole |= {field: copy.deepcopy(end[field]) for field in fields if field in end}
