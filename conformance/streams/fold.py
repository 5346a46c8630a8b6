"""Folds the events of a stream into the equivalent unary answer, independently of the server's own code."""

import copy
import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

Piece = dict[str, Any]


def fold_chat(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Folds chunks into a chat completion. `usage` is null if no chunk has it. Raises KeyError, IndexError, TypeError
    or AttributeError for malformed chunks."""
    return _fold(chunks, "chat.completion", lambda pieces: {"message": _message([piece["delta"] for piece in pieces])})


def fold_completion(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Folds chunks into a text completion. `usage` is null if no chunk has it. Raises as `fold_chat` does."""
    return _fold(chunks, "text_completion", _completed)


def _fold(chunks: list[dict[str, Any]], kind: str, choice: Callable[[list[Piece]], dict[str, Any]]) -> dict[str, Any]:
    pieces: dict[int, list[Piece]] = defaultdict(list)
    reasons: dict[int, str] = {}
    logprobs: dict[int, dict[str, Any] | None] = defaultdict(lambda: None)
    for chunk in chunks:
        for piece in chunk["choices"]:
            index = piece["index"]
            pieces[index].append(piece)
            # Some systems omit fields without a value; the rule event-shape reports that.
            logprobs[index] = _joined(logprobs[index], piece.get("logprobs"))
            reasons[index] = piece.get("finish_reason") or reasons.get(index, "")
    # Some systems omit the chunk's id; the rule event-shape reports that.
    return {
        **({"id": chunks[0]["id"]} if "id" in chunks[0] else {}),
        "object": kind,
        "created": chunks[0]["created"],
        "model": chunks[0]["model"],
        **_first_field(chunks, "prompt_token_ids"),
        **(_first_field(pieces.get(0, []), "prompt_logprobs") if kind == "chat.completion" else {}),
        "choices": [
            {
                "index": index,
                **choice(pieces[index]),
                "logprobs": logprobs[index],
                **_first_field(pieces[index], "prompt_token_ids"),
                **_first_field(pieces[index], "prompt_logprobs"),
                **_joined_lists(pieces[index], "token_ids", "completion_token_ids"),
                "finish_reason": reasons[index],
                **_stop_reason(pieces[index]),
            }
            for index in sorted(pieces)
        ],
        "usage": next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None),
    }


def _stop_reason(pieces: list[Piece]) -> dict[str, Any]:
    """Returns the last `stop_reason` of a choice, if the stream has the field. Some systems send it as null before the
    end."""
    stop_reasons = [piece["stop_reason"] for piece in pieces if "stop_reason" in piece]
    return {"stop_reason": stop_reasons[-1]} if stop_reasons else {}


def _completed(pieces: list[Piece]) -> dict[str, Any]:
    """Returns the text of a completion choice. Some systems add reasoning and tool calls."""
    choice: dict[str, Any] = {"text": _text(pieces, "text")}
    if reasoning := _text(pieces, "reasoning_content"):
        choice["reasoning_content"] = reasoning
    if calls := _calls(pieces):
        choice["tool_calls"] = calls
    return choice


def _message(deltas: list[Piece]) -> dict[str, Any]:
    """Returns the message of a chat choice. With tool calls, empty content becomes null."""
    message: dict[str, Any] = {"role": "assistant", "content": _text(deltas, "content"), "refusal": None}
    for name in ("reasoning_content", "reasoning"):
        if reasoning := _text(deltas, name):
            message[name] = reasoning
    calls = _calls(deltas)
    legacy = [delta["function_call"] for delta in deltas if delta.get("function_call")]
    if calls:
        message["tool_calls"] = calls
    if legacy:
        message["function_call"] = _function(legacy)
    if (calls or legacy) and not message["content"]:
        message["content"] = None
    return message | _first_field(deltas, "prompt_token_ids") | _joined_lists(deltas, "completion_token_ids")


def _first_field(pieces: list[Piece], name: str) -> dict[str, Any]:
    """Returns the field of the first piece that has a value for it."""
    return next(({name: piece[name]} for piece in pieces if piece.get(name) is not None), {})


def _joined_lists(pieces: list[Piece], *names: str) -> dict[str, Any]:
    """Returns the concatenated lists of these names that occur in the pieces."""
    present = [name for name in names if any(isinstance(piece.get(name), list) for piece in pieces)]
    return {name: [item for piece in pieces for item in piece.get(name) or ()] for name in present}


def _calls(deltas: list[Piece]) -> list[dict[str, Any]]:
    by_index: dict[int, list[Piece]] = defaultdict(list)
    for delta in deltas:
        for call in delta.get("tool_calls") or ():
            by_index[call["index"]].append(call)
    return [_call(by_index[index]) for index in sorted(by_index)]


def _call(pieces: list[Piece]) -> dict[str, Any]:
    call = {"id": _first(pieces, "id"), "type": _first(pieces, "type")}
    if custom := [piece["custom"] for piece in pieces if piece.get("custom")]:
        return {**call, "custom": {"name": _first(custom, "name"), "input": _text(custom, "input")}}
    return {**call, "function": _function([piece.get("function") or {} for piece in pieces])}


def _function(pieces: list[Piece]) -> dict[str, Any]:
    return {"name": _first(pieces, "name"), "arguments": _text(pieces, "arguments")}


def _first(pieces: list[Piece], name: str) -> Any:
    return next((piece[name] for piece in pieces if piece.get(name)), None)


def _text(pieces: list[Piece], name: str) -> str:
    return "".join(piece.get(name) or "" for piece in pieces)


def _joined(before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any] | None:
    """Concatenates the lists of two objects; a value that isn't a list in both becomes None."""
    if before is None or after is None:
        return before if after is None else after
    return {
        name: before[name] + after[name]
        if isinstance(before[name], list) and isinstance(after.get(name), list)
        else None
        for name in before
    }


# Fields that aren't known before the end of a response, or of an output item.
RESPONSE_END = ("status", "completed_at", "incomplete_details", "error", "usage")
ITEM_END = ("status", "encrypted_content")

# Fields of an item that grow by events. A search for tools has no deltas.
GROWING = ("content", "summary", "arguments", "input")
SEARCH_END = (*ITEM_END, "arguments")

Item = dict[str, Any]


def fold_response(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Rebuilds the response object from its events, without relying on the final one. Raises as `fold_chat` does.

    Settings come from `response.created`; items grow from `output_item.added` by parts and deltas. Only fields in
    RESPONSE_END and ITEM_END, which aren't known earlier, and those without a value until then, such as a message's
    `phase`, come from closing events. The last event must have a
    `response`, so it can't be `error`. An event without an index is assigned to the newest item and part: other rules
    report the missing index.
    """
    response: dict[str, Any] = copy.deepcopy({**events[-1]["response"], **events[0]["response"]})
    items: dict[int, Item] = {}
    for event in events:
        if event["type"] == "response.output_item.added":
            items[event.get("output_index", len(items))] = copy.deepcopy(event["item"])
        elif items:
            _apply_event(items[event.get("output_index", max(items))], event)
    response["output"] = [items[index] for index in sorted(items)]
    _copy_fields(response, events[-1]["response"], RESPONSE_END)
    if response.get("text") is None:  # some systems send the text format only at the end
        _copy_fields(response, events[-1]["response"], ("text",))
    return response


def _apply_event(item: Item, event: dict[str, Any]) -> None:
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
            # Tokens without text, such as end-of-turn, have no delta.
            part = item["content"][event.get("content_index", -1)]
            if "logprobs" in part:
                received = part["logprobs"] or []
                part["logprobs"] = [*received, *copy.deepcopy((event.get("logprobs") or [])[len(received) :])]
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
        case "response.custom_tool_call_input.delta":
            item["input"] += event["delta"]
        case "response.output_item.done":
            late = [name for name in event["item"] if item.get(name) is None and name not in GROWING]
            _copy_fields(item, event["item"], SEARCH_END if item["type"] == "tool_search_call" else ITEM_END)
            _copy_fields(item, event["item"], late)


def _copy_fields(item: dict[str, Any], end: dict[str, Any], fields: Iterable[str]) -> None:
    item |= {field: copy.deepcopy(end[field]) for field in fields if field in end}


def fold_message(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Folds events of the messages API into a message. Raises as `fold_chat` does."""
    blocks: dict[int, dict[str, Any]] = {}
    arguments: dict[int, str] = defaultdict(str)
    message: dict[str, Any] = {}
    for event in events:
        match event.get("type"):
            case "message_start":
                message = copy.deepcopy(event["message"])
            case "content_block_start":
                blocks[event["index"]] = copy.deepcopy(event["content_block"])
            case "content_block_delta" if event["delta"]["type"] == "input_json_delta":
                arguments[event["index"]] += event["delta"]["partial_json"]
            case "content_block_delta":
                _apply_delta(blocks[event["index"]], event["delta"])
            case "message_delta":
                message |= event["delta"]
                message["usage"] = message["usage"] | event["usage"]
    for index, text in arguments.items():
        blocks[index]["input"] = _arguments(text)
    return {**message, "content": [blocks[index] for index in sorted(blocks)]}


def _apply_delta(block: dict[str, Any], delta: dict[str, Any]) -> None:
    """Adds a delta to a block in place: its text, its reasoning, the signature or a citation."""
    for name, value in delta.items():
        if name == "citation":
            block["citations"] = [*(block.get("citations") or ()), value]
        elif name == "signature":
            block[name] = value
        elif name != "type":
            block[name] = block.get(name, "") + value


def fold_ollama_chat(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Folds lines of Ollama's chat into one answer. Raises as `fold_chat` does."""
    messages = [line["message"] for line in lines]
    message = {**messages[-1], "content": _text(messages, "content"), **_joined_lists(messages, "tool_calls")}
    return {**_last_line(lines), "message": message | _thoughts(messages)}


def fold_ollama_generate(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Folds lines of `/api/generate` into one answer. Raises as `fold_chat` does."""
    response = "".join(line["response"] for line in lines)
    return {**_last_line(lines), "response": response, **_joined_lists(lines, "tool_calls"), **_thoughts(lines)}


def _last_line(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the last line, which has how the answer ended, with the logprobs of all."""
    return {**lines[-1], **_joined_lists(lines, "logprobs")}


def _thoughts(pieces: list[Piece]) -> dict[str, Any]:
    thinking = _text(pieces, "thinking")
    return {"thinking": thinking} if thinking else {}


def _arguments(text: str) -> Any:
    """Returns the object that the arguments of a call are; {} for those of an answer that ended before they did."""
    try:
        return json.loads(text)
    except ValueError:
        return {}
