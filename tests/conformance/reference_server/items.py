"""The items that responses take in and put out."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from reference_server.generation import Asked, Output, Piece
from reference_server.part import Part
from reference_server.refusal import Refusal
from reference_server.words import Token
from specvino.generated.errors import ErrorCode

Item = dict[str, Any]
Run = tuple[str, list[Piece]]
"""Pieces that make up one item, with their kind."""

PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "reasoning": "rs",
}
SEAL = b"sealed:"


class Items(Part):
    """Makes them."""

    # What comes in

    def input_items(self, given: str | Sequence[Item]) -> list[Item]:
        """An input in its longest form: items with ids, contents as lists of parts."""
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        return [self.whole_item(item) for item in given]

    def whole_item(self, item: Item) -> Item:
        kind = item.get("type", "message")
        whole = {**item, "type": kind, "id": item.get("id") or self.item_id(PREFIXES.get(kind, "item"))}
        if kind in PREFIXES:
            whole["status"] = item.get("status") or "completed"
        if isinstance(item.get("content"), str):
            whole["content"] = [self.plain_part(item["content"], item["role"])]
        return whole

    def plain_part(self, text: str, role: str) -> dict[str, Any]:
        if role == "assistant":
            return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        return {"type": "input_text", "text": text}

    def item_turns(self, items: Iterable[Item], param: str) -> Iterator[tuple[str, str]]:
        """The turns of a conversation: role and text. Raises Refusal."""
        for at, item in enumerate(items):
            path = f"{param}.{at}"
            match item["type"]:
                case "message":
                    yield self.server.chat.role(item["role"]), self.item_text(item["content"], f"{path}.content")
                case "function_call":
                    yield "assistant", f"{item['name']}{item['arguments']}"
                case "custom_tool_call":
                    yield "assistant", f"{item['name']}{item['input']}"
                case "function_call_output" | "custom_tool_call_output":
                    yield "tool", self.item_text(item["output"], f"{path}.output")
                case "reasoning":
                    yield "assistant", self.thoughts_of(item, path)
                case "compaction":
                    yield "user", self.unsealed(item["encrypted_content"], path)

    def item_text(self, content: Any, param: str) -> str:
        """The text of both forms. Raises Refusal for what a model can't read."""
        if isinstance(content, str):
            return content
        return "\n".join(self.item_part_text(part, f"{param}.{at}") for at, part in enumerate(content))

    def item_part_text(self, part: Mapping[str, Any], param: str) -> str:
        if part["type"] not in ("input_text", "output_text", "refusal"):
            raise Refusal(ErrorCode.UNSUPPORTED_CONTENT, f"{param} is no text, which is all this model reads.", param)
        return str(part.get("text", part.get("refusal", "")))

    def thoughts_of(self, item: Item, param: str) -> str:
        """Raises Refusal where they are sealed by somebody else."""
        if parts := item.get("content") or item.get("summary"):
            return "\n".join(part["text"] for part in parts)
        return self.unsealed(item["encrypted_content"], param) if item.get("encrypted_content") else ""

    def unsealed(self, sealed: str, param: str) -> str:
        try:
            content = base64.b64decode(sealed, validate=True)
        except ValueError:
            content = b""
        if not content.startswith(SEAL):
            message = f"{param}.encrypted_content was not sealed by this server."
            raise Refusal(ErrorCode.INVALID_ENCRYPTED_CONTENT, message, f"{param}.encrypted_content")
        return content.removeprefix(SEAL).decode()

    # What goes out

    def runs(self, output: Output) -> list[Run]:
        """An answer that says nothing is a message, too."""
        groups = [
            (kind, list(pieces)) for (kind, _), pieces in groupby(output.pieces, lambda piece: (piece.kind, piece.call))
        ]
        return [(str(kind), pieces) for kind, pieces in groups] or [("text", [])]

    def items(self, asked: Asked, output: Output) -> list[Item]:
        """What the model put out, whole."""
        runs = self.runs(output)
        made = []
        for at, (kind, pieces) in enumerate(runs):
            last = at == len(runs) - 1
            status = self.item_status(output, last=last)
            made.append(self.item(asked, kind, pieces, status, output.rest if last else ()))
        return made

    def item_status(self, output: Output, *, last: bool) -> str:
        return "incomplete" if last and output.reason == "length" else "completed"

    def item(self, asked: Asked, kind: str, pieces: Sequence[Piece], status: str, rest: Sequence[Token]) -> Item:
        text = "".join(piece.text for piece in pieces)
        if kind == "call":
            tool = asked.offer.functions[pieces[0].name]
            item = (self.custom_item if tool.get("type") == "custom" else self.call_item)(pieces[0], text, status)
            return {**item, **tool.get("of", {})}
        if kind == "thoughts":
            return self.reasoning_item(asked, text, status)
        tokens = [*(token for piece in pieces for token in piece.tokens), *rest]
        return self.message_item(self.text_part(text, self.output_logprobs(asked, tokens)), status)

    def item_id(self, prefix: str) -> str:
        return f"{prefix}_{self.server.generation.count():08x}"

    def message_item(self, part: Mapping[str, Any], status: str) -> Item:
        return {
            "id": self.item_id("msg"),
            "type": "message",
            "status": status,
            "role": "assistant",
            "content": [part],
        }

    def text_part(self, text: str, logprobs: list[dict[str, Any]]) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs}

    def output_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> list[dict[str, Any]]:
        top = asked.body.get("top_logprobs", 0)
        included = "message.output_text.logprobs" in (asked.body.get("include") or ())
        if not (included or asked.body.get("logprobs") or top):
            return []
        return [self.server.chat.token_logprob(token, top) for token in tokens]

    def call_item(self, first: Piece, arguments: str, status: str) -> Item:
        return {
            "id": self.item_id("fc"),
            "type": "function_call",
            "status": status,
            "call_id": first.id,
            "name": first.name,
            "arguments": arguments,
        }

    def custom_item(self, first: Piece, input: str, status: str) -> Item:
        return {
            "id": self.item_id("ctc"),
            "type": "custom_tool_call",
            "status": status,
            "call_id": first.id,
            "name": first.name,
            "input": input,
        }

    def reasoning_item(self, asked: Asked, thoughts: str, status: str) -> Item:
        summed = self.wants_summary(asked)
        return {
            "id": self.item_id("rs"),
            "type": "reasoning",
            "status": status,
            "summary": [{"type": "summary_text", "text": thoughts}] if summed else [],
            "content": [] if summed else [{"type": "reasoning_text", "text": thoughts}],
            "encrypted_content": self.sealed(asked, thoughts),
        }

    def compaction_item(self, text: str) -> Item:
        sealed = base64.b64encode(SEAL + text.encode()).decode()
        return {"id": self.item_id("cmp"), "type": "compaction", "encrypted_content": sealed}

    def wants_summary(self, asked: Asked) -> bool:
        settings = asked.body.get("reasoning") or {}
        return (settings.get("summary") or settings.get("generate_summary")) is not None

    def sealed(self, asked: Asked, thoughts: str) -> str | None:
        """The thoughts as only this server can read them, where they are asked for."""
        if "reasoning.encrypted_content" not in (asked.body.get("include") or ()):
            return None
        return base64.b64encode(SEAL + thoughts.encode()).decode()

    def begun(self, item: Item) -> Item:
        """An item of which nothing is said yet."""
        new = json.loads(json.dumps(item))
        new |= {"status": "in_progress"}
        new |= {name: [] for name in ("content", "summary") if name in item}
        new |= {name: "" for name in ("arguments", "input") if name in item}
        return {**new, "encrypted_content": None} if item["type"] == "reasoning" else dict(new)
