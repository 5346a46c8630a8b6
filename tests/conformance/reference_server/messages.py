"""POST /messages and /messages/count_tokens."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reference_server.generation import Asked, Output
from reference_server.http import Call, Event, Route, Stream
from reference_server.part import Part
from reference_server.refusal import Refusal
from specvino.generated.errors import ERRORS, ErrorCode

Block = dict[str, Any]


class Messages(Part):
    """A request becomes one of chat; the answer is made here."""

    routes = (
        Route("POST", "/messages", "messages"),
        Route("POST", "/messages/count_tokens", "count_tokens"),
    )

    def messages(self, call: Call) -> dict[str, Any] | Stream:
        body = self.server.requests.accepted(call, "CreateMessageRequest")
        asked = self.message_asked(body)
        output = self.server.generation.output(asked, 0)
        call.tokens = output.made
        begun = self.begun_message(body, asked)
        blocks = self.message_blocks(output)
        if body.get("stream"):
            return Stream(self.message_events(asked, output, begun, blocks), named=True)
        return {**begun, "content": blocks, **self.ended(asked, output), "usage": self.usage(asked, output.made)}

    def count_tokens(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "CountTokensRequest")
        return {"input_tokens": len(self.message_asked(body).prompt)}

    def has_own_errors(self, path: str) -> bool:
        return path.endswith(("/messages", "/messages/count_tokens"))

    def refused(self, call: Call, refusal: Refusal) -> dict[str, Any]:
        """The body of an error."""
        error = {**refusal.error, "type": ERRORS[refusal.code].anthropic_type}
        return {"type": "error", "error": error, "request_id": call.id}

    def key(self, call: Call) -> str:
        """What the request has in the header of Anthropic's clients."""
        return call.headers.get("x-api-key", "") if self.has_own_errors(call.path) else ""

    # The request

    def message_asked(self, body: Mapping[str, Any]) -> Asked:
        """Raises Refusal."""
        self.require_calls(body["messages"])
        messages = [*self.system(body), *(turn for message in body["messages"] for turn in self.turns(message))]
        tools = [{"type": "function", "function": self.function(tool)} for tool in body.get("tools") or ()]
        form = (body.get("output_config") or {}).get("format") or body.get("output_format")
        request: dict[str, Any] = {
            **{name: body[name] for name in ("model", "temperature", "top_p", "top_k") if name in body},
            "messages": messages,
            "max_tokens": body.get("max_tokens", 1),
            **({"tools": tools} if tools else {}),
            **self.choice(body.get("tool_choice") or {"type": "auto"}),
            **({"stop": self.stops(body)} if self.stops(body) else {}),
            **({"response_format": {"type": "json_schema", "schema": form["schema"]}} if form else {}),
        }
        return self.server.chat.chat_asked(request)

    def stops(self, body: Mapping[str, Any]) -> list[str]:
        return list(body.get("stop_sequences") or ())

    def system(self, body: Mapping[str, Any]) -> list[dict[str, str]]:
        text = self.text(body.get("system") or "")
        return [{"role": "system", "content": text}] if text else []

    def turns(self, message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """A message of chat, after one for each result of a call."""
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "tool_result":
                yield {"role": "tool", "content": self.result(block), "tool_call_id": block["tool_use_id"]}
        calls = [{"function": str(block["input"])} for block in blocks if block["type"] == "tool_use"]
        yield {"role": message["role"], "content": self.text(blocks), "tool_calls": calls}

    def result(self, block: Mapping[str, Any]) -> str:
        return self.text(block.get("content") or "")

    def text(self, content: Any) -> str:
        if isinstance(content, str):
            return content
        return "\n".join(block["text"] for block in content if block["type"] == "text")

    def function(self, tool: Mapping[str, Any]) -> dict[str, Any]:
        return {"name": tool["name"], "parameters": tool["input_schema"]}

    def choice(self, choice: Mapping[str, Any]) -> dict[str, Any]:
        """The choice of tools in chat's form."""
        named = {"type": "function", "function": {"name": choice.get("name")}}
        kinds = {"auto": "auto", "none": "none", "any": "required", "tool": named}
        return {
            "tool_choice": kinds[choice["type"]],
            "parallel_tool_calls": not choice.get("disable_parallel_tool_use"),
        }

    def require_calls(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Raises Refusal for a result without a call in the message before."""
        calls: set[str] = set()
        for at, message in enumerate(messages):
            blocks = message["content"] if isinstance(message["content"], list) else []
            for part, block in enumerate(blocks):
                if block["type"] == "tool_result" and block["tool_use_id"] not in calls:
                    param = f"messages.{at}.content.{part}.tool_use_id"
                    raise Refusal(ErrorCode.INVALID_VALUE, f"{param} names no call of the message before.", param)
            calls = {block["id"] for block in blocks if block["type"] == "tool_use"}

    # The answer

    def begun_message(self, body: Mapping[str, Any], asked: Asked) -> dict[str, Any]:
        return {
            "id": self.message_id(),
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "stop_details": None,
            "container": None,
            "usage": self.usage(asked, 0),
        }

    def message_id(self) -> str:
        return f"msg_{self.server.generation.count():08x}"

    def usage(self, asked: Asked, made: int) -> dict[str, Any]:
        return {
            "input_tokens": len(asked.prompt),
            "output_tokens": made,
            "output_tokens_details": {"thinking_tokens": 0},
            "cache_creation": None,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "inference_geo": None,
            "server_tool_use": None,
            "service_tier": "standard",
        }

    def message_blocks(self, output: Output) -> list[Block]:
        text = output.joined("text")
        blocks: list[Block] = [{**self.text_block(), "text": text}] if text else []
        return [*blocks, *({**self.call_block(call), "input": self.input(call["arguments"])} for call in output.calls)]

    def text_block(self) -> Block:
        return {"type": "text", "text": "", "citations": []}

    def call_block(self, called: Mapping[str, str]) -> Block:
        id = f"toolu_{called['id'].removeprefix('call_')}"
        return {"type": "tool_use", "id": id, "name": called["name"], "input": {}, "caller": {"type": "direct"}}

    def input(self, arguments: str) -> Any:
        return self.server.http.parse(arguments.encode()) if arguments.endswith("}") else {}

    def ended(self, asked: Asked, output: Output) -> dict[str, Any]:
        """Why the answer ended."""
        reasons = {"length": "max_tokens", "tool_calls": "tool_use", "stop": "end_turn"}
        stop = self.met(asked, output)
        return {"stop_reason": "stop_sequence" if stop else reasons[output.reason], "stop_sequence": stop}

    def met(self, asked: Asked, output: Output) -> str | None:
        """The stop sequence that ended the answer: without it the same answer goes on."""
        if output.reason != "stop" or not asked.body.get("stop"):
            return None
        free = Asked(
            {name: value for name, value in asked.body.items() if name != "stop"},
            *(asked.prompt, asked.limit, asked.offer, asked.form, asked.question, asked.thinks),
        )
        text, whole = output.joined("text"), self.server.generation.output(free, 0).joined("text")
        return next((stop for stop in asked.body["stop"] if whole.startswith(text + stop)), None)

    # The stream

    def message_events(
        self, asked: Asked, output: Output, begun: Mapping[str, Any], blocks: Sequence[Block]
    ) -> Iterator[Event]:
        yield {"type": "message_start", "message": begun}
        yield {"type": "ping"}
        for index, block in enumerate(blocks):
            yield from self.block_events(index, block, output)
        yield {"type": "message_delta", "delta": self.ended(asked, output), "usage": self.usage(asked, output.made)}
        yield {"type": "message_stop"}

    def block_events(self, index: int, block: Block, output: Output) -> Iterator[Event]:
        empty: Block = {"text": ""} if block["type"] == "text" else {"input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty}}
        for delta in self.deltas(index, block, output):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}

    def deltas(self, index: int, block: Block, output: Output) -> Iterator[dict[str, str]]:
        if block["type"] == "text":
            yield from ({"type": "text_delta", "text": piece.text} for piece in output.pieces if piece.kind == "text")
            return
        number = index - bool(output.joined("text"))
        for piece in output.pieces:
            if piece.kind == "call" and piece.call == number and piece.text:
                yield {"type": "input_json_delta", "partial_json": piece.text}
