"""The unary answer that a stream amounts to, made independently of any server."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

Piece = dict[str, Any]


def fold_chat(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the chat completion that chunks add up to; usage is null where no chunk had any."""
    return _fold(chunks, "chat.completion", lambda pieces: {"message": _message([each["delta"] for each in pieces])})


def fold_completion(chunks: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the text completion that chunks add up to; usage is null where no chunk had any."""
    return _fold(chunks, "text_completion", _completed)


def _fold(chunks: list[dict[str, Any]], kind: str, choice: Callable[[list[Piece]], dict[str, Any]]) -> dict[str, Any]:
    pieces: dict[int, list[Piece]] = defaultdict(list)
    reasons: dict[int, str] = {}
    logprobs: dict[int, dict[str, Any] | None] = defaultdict(lambda: None)
    for chunk in chunks:
        for each in chunk["choices"]:
            pieces[each["index"]].append(each)
            # Some systems leave out what has no value; whether they may is for the rule for events' shapes.
            logprobs[each["index"]] = _joined(logprobs[each["index"]], each.get("logprobs"))
            reasons[each["index"]] = each.get("finish_reason") or reasons.get(each["index"], "")
    # Whether a chunk has to have an id, which not all systems give, is for the rule for events' shapes, too.
    return {
        **({"id": chunks[0]["id"]} if "id" in chunks[0] else {}),
        "object": kind,
        "created": chunks[0]["created"],
        "model": chunks[0]["model"],
        **_told(chunks, "prompt_token_ids"),
        **(_told(pieces.get(0, []), "prompt_logprobs") if kind == "chat.completion" else {}),
        "choices": [
            {
                "index": index,
                **choice(pieces[index]),
                "logprobs": logprobs[index],
                **_told(pieces[index], "prompt_token_ids"),
                **_told(pieces[index], "prompt_logprobs"),
                **_lists(pieces[index], "token_ids", "completion_token_ids"),
                "finish_reason": reasons[index],
                **_stop_reason(pieces[index]),
            }
            for index in sorted(pieces)
        ],
        "usage": next((chunk["usage"] for chunk in reversed(chunks) if chunk.get("usage")), None),
    }


def _stop_reason(pieces: list[Piece]) -> dict[str, Any]:
    """Returns what ended a choice, where the stream tells: some systems do so in each piece, null before the end."""
    told = [piece["stop_reason"] for piece in pieces if "stop_reason" in piece]
    return {"stop_reason": told[-1]} if told else {}


def _completed(pieces: list[Piece]) -> dict[str, Any]:
    """Returns the text of a choice, and what some systems have beside it: reasoning and calls."""
    choice: dict[str, Any] = {"text": _text(pieces, "text")}
    if reasoning := _text(pieces, "reasoning_content"):
        choice["reasoning_content"] = reasoning
    if calls := _calls(pieces):
        choice["tool_calls"] = calls
    return choice


def _message(deltas: list[Piece]) -> dict[str, Any]:
    """Returns the message of a choice. Reasoning and calls are there where the stream had some; beside calls, no text
    is null."""
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
    return message | _told(deltas, "prompt_token_ids") | _lists(deltas, "completion_token_ids")


def _told(pieces: list[Piece], name: str) -> dict[str, Any]:
    """Returns what the first piece that has the name says by it."""
    return next(({name: piece[name]} for piece in pieces if piece.get(name) is not None), {})


def _lists(pieces: list[Piece], *names: str) -> dict[str, Any]:
    """Returns the lists of these names, joined, where there are some."""
    given = [name for name in names if any(isinstance(piece.get(name), list) for piece in pieces)]
    return {name: [each for piece in pieces for each in piece.get(name) or ()] for name in given}


def _calls(deltas: list[Piece]) -> list[dict[str, Any]]:
    by_index: dict[int, list[Piece]] = defaultdict(list)
    for delta in deltas:
        for call in delta.get("tool_calls") or ():
            by_index[call["index"]].append(call)
    return [_call(by_index[index]) for index in sorted(by_index)]


def _call(pieces: list[Piece]) -> dict[str, Any]:
    return {
        "id": _first(pieces, "id"),
        "type": _first(pieces, "type"),
        "function": _function([piece.get("function") or {} for piece in pieces]),
    }


def _function(pieces: list[Piece]) -> dict[str, Any]:
    return {"name": _first(pieces, "name"), "arguments": _text(pieces, "arguments")}


def _first(pieces: list[Piece], name: str) -> Any:
    return next((piece[name] for piece in pieces if piece.get(name)), None)


def _text(pieces: list[Piece], name: str) -> str:
    return "".join(piece.get(name) or "" for piece in pieces)


def _joined(before: dict[str, Any] | None, after: dict[str, Any] | None) -> dict[str, Any] | None:
    """Returns objects of lists joined, one after the other; what isn't a list in one of them becomes None."""
    if before is None or after is None:
        return before if after is None else after
    return {
        name: before[name] + after[name]
        if isinstance(before[name], list) and isinstance(after.get(name), list)
        else None
        for name in before
    }
