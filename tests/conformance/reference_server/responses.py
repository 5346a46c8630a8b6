"""POST /responses."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from reference_server.generation import Asked, Output
from reference_server.http import Call, Event, Route, Stream
from reference_server.items import Item
from reference_server.part import Part
from reference_server.refusal import Refusal
from specvino.generated.errors import ErrorCode

Response = dict[str, Any]


class Responses(Part):
    routes = (
        Route("POST", "/responses", "responses"),
        Route("POST", "/responses/input_tokens", "input_tokens"),
        Route("POST", "/responses/compact", "compact"),
    )

    def responses(self, call: Call) -> Response | Stream:
        body = self.server.requests.accepted(call, "CreateResponseRequest")
        self.server.generation.require_settings(body)
        taken = [*self.resolved(call, self.server.items.input_items(body["input"]))]
        asked = self.response_asked(body, taken)
        output = self.server.generation.output(asked, 0)
        call.tokens = output.made
        begun = self.begun_response(body)
        items = self.server.items.items(asked, output)
        if id := begun.get("conversation"):
            self.server.conversations.add(id["id"], [*taken, *items])
        events = [*self.numbered(self.response_events(asked, begun, output, items))]
        whole = self.response(asked, begun, output, items)
        if self.stores(body):
            whole = self.server.stored.keep(begun, whole, taken, events)
        return self.response_stream(events) if body.get("stream") else whole

    def input_tokens(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "InputTokensRequest")
        taken = [*self.resolved(call, self.server.items.input_items(body.get("input") or []))]
        return {"object": "response.input_tokens", "input_tokens": len(self.response_asked(body, taken).prompt)}

    def compact(self, call: Call) -> dict[str, Any]:
        body = self.server.requests.accepted(call, "CompactRequest")
        earlier = self.server.stored.earlier(body.get("previous_response_id"))
        taken = [*earlier, *self.resolved(call, self.server.items.input_items(body.get("input") or []))]
        asked = self.response_asked({"model": body["model"]}, taken)
        return {
            "id": self.response_id(),
            "object": "response.compaction",
            "created_at": self.server.http.now(),
            "output": self.compacted(taken),
            "usage": self.compacted_usage(len(asked.prompt)),
        }

    def compacted(self, taken: Sequence[Item]) -> list[Item]:
        users = [item for item in taken if item["type"] == "message" and item["role"] == "user"]
        text = " ".join(text for _, text in self.server.items.item_turns(taken, "input"))
        return [*users, self.server.items.compaction_item(text)]

    def compacted_usage(self, prompt: int) -> dict[str, Any]:
        return {
            "input_tokens": prompt,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": prompt + 1,
        }

    def response_stream(self, events: Iterable[Event]) -> Stream:
        return Stream(events, named=True)

    def stores(self, body: Mapping[str, Any]) -> bool:
        return body.get("store") is not False

    # The request

    def response_asked(self, body: Mapping[str, Any], taken: Sequence[Item]) -> Asked:
        """Raises Refusal."""
        format = (body.get("text") or {}).get("format")
        form = (
            self.server.generation.form(body.get("response_format"), "response_format")
            if format is None
            else self.server.generation.form(format, "text.format")
        )
        offer = self.server.tools.offer({**body, "tools": self.offered_tools(body, taken)})
        turns = self.instructed(body)
        turns += self.server.items.item_turns(
            self.server.stored.earlier(body.get("previous_response_id")), "previous_response_id"
        )
        conversation = self.server.conversations.earlier(self.server.conversations.named(body))
        turns += self.server.items.item_turns(conversation, "conversation")
        own = [*self.server.items.item_turns(taken, "input")]
        if not own:
            raise Refusal(ErrorCode.EMPTY_PROMPT, "input has no item that the model could read.", "input")
        prompt = self.server.generation.words.encode(
            self.server.chat.rendered([*turns, *own]) + self.server.chat.shown(offer.functions)
        )
        question = own[-1][1] if own[-1][0] == "user" else ""
        asked = Asked(
            body, prompt, self.response_limit(body), offer, form, question, self.server.generation.thinks(body)
        )
        self.server.generation.require_context(asked, "input", "max_output_tokens")
        return asked

    def offered_tools(self, body: Mapping[str, Any], taken: Sequence[Item]) -> list[Mapping[str, Any]]:
        """Those of the request, and those in its input."""
        further = [tool for item in taken if item["type"] == "additional_tools" for tool in item["tools"]]
        return [*(body.get("tools") or ()), *further]

    def instructed(self, body: Mapping[str, Any]) -> list[tuple[str, str]]:
        return [("system", body["instructions"])] if body.get("instructions") else []

    def response_limit(self, body: Mapping[str, Any]) -> int | None:
        limit: int | None = body.get("max_output_tokens")
        return limit

    def resolved(self, call: Call, items: Iterable[Item]) -> Iterator[Item]:
        """The items with those that are referred to; where nothing is stored there is nothing to refer to."""
        for at, item in enumerate(items):
            if item["type"] != "item_reference":
                yield item
            elif (stored_item := self.server.stored.stored_item(item["id"])) is not None:
                yield stored_item
            else:
                call.unsupported.append(f"input.{at}")

    # The response

    def begun_response(self, body: Mapping[str, Any]) -> Response:
        """A response of which nothing is said yet."""
        background = self.is_background(body)
        return {
            "id": self.response_id(),
            "object": "response",
            "created_at": self.server.http.now(),
            "completed_at": None,
            "status": "queued" if background else "in_progress",
            "incomplete_details": None,
            "error": None,
            "model": body["model"],
            "previous_response_id": body.get("previous_response_id"),
            "conversation": {"id": id} if (id := self.server.conversations.named(body)) else None,
            "prompt": None,
            "output": [],
            "store": self.stores(body),
            "background": background,
            "service_tier": "default",
            "moderation": None,
            "usage": None,
            **self.echo(body),
        }

    def response_id(self) -> str:
        return f"resp_{self.server.generation.count():08x}"

    def is_background(self, body: Mapping[str, Any]) -> bool:
        return bool(body.get("background"))

    def echo(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What a response repeats of its request, and the settings that are in force."""
        reasoning = body.get("reasoning") or {}
        return {
            "instructions": body.get("instructions"),
            "tools": self.echoed_tools(body),
            "tool_choice": self.echoed_choice(body.get("tool_choice", "auto")),
            "parallel_tool_calls": self.server.tools.several(body),
            "max_tool_calls": body.get("max_tool_calls"),
            "truncation": body.get("truncation", "disabled"),
            "text": self.echoed_text(body),
            "reasoning": {
                "effort": reasoning.get("effort"),
                "summary": reasoning.get("summary") or reasoning.get("generate_summary"),
            },
            "temperature": body.get("temperature", 1),
            "top_p": body.get("top_p", 1),
            "presence_penalty": body.get("presence_penalty", 0),
            "frequency_penalty": body.get("frequency_penalty", 0),
            "top_logprobs": body.get("top_logprobs", 0),
            "max_output_tokens": body.get("max_output_tokens"),
            "metadata": self.echoed_metadata(body),
            "safety_identifier": body.get("safety_identifier"),
            "user": body.get("user"),
            "prompt_cache_key": body.get("prompt_cache_key"),
            "prompt_cache_retention": body.get("prompt_cache_retention"),
            "prompt_cache_options": body.get("prompt_cache_options"),
        }

    def echoed_tools(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """As they were sent; functions in the flat form."""
        tools = []
        for tool in body.get("tools") or ():
            nested = tool.get("function") if isinstance(tool.get("function"), Mapping) else None
            tools.append(dict(tool) if nested is None else {**nested, "type": "function"})
        return tools

    def echoed_choice(self, choice: Any) -> Any:
        """As it was sent; a function in the flat form."""
        if isinstance(choice, Mapping) and isinstance(choice.get("function"), Mapping):
            return {"type": "function", "name": choice["function"]["name"]}
        return choice

    def echoed_text(self, body: Mapping[str, Any]) -> dict[str, Any]:
        settings = body.get("text") or {}
        return {
            "format": settings.get("format") or {"type": "text"},
            "verbosity": settings.get("verbosity") or "medium",
        }

    def echoed_metadata(self, body: Mapping[str, Any]) -> dict[str, str]:
        return dict(body.get("metadata") or {})

    def response(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Response:
        """The response when all is said."""
        cut = output.reason == "length"
        return {
            **begun,
            "status": self.response_status(output),
            "completed_at": None if cut else self.server.http.now(),
            "incomplete_details": self.incomplete_details() if cut else None,
            "output": list(items),
            "usage": self.response_usage(asked, output),
        }

    def response_status(self, output: Output) -> str:
        return "incomplete" if output.reason == "length" else "completed"

    def incomplete_details(self) -> dict[str, str]:
        return {"reason": "max_output_tokens"}

    def response_usage(self, asked: Asked, output: Output) -> dict[str, Any]:
        taken, made = len(asked.prompt), self.server.generation.completion_tokens([output])
        return {
            "input_tokens": taken,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": made,
            "output_tokens_details": {"reasoning_tokens": output.thought},
            "total_tokens": self.server.generation.total(taken, made),
        }

    # The stream

    def response_events(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Iterator[Event]:
        """All events, without numbers."""
        yield from self.first_events(begun)
        for at, (run, item) in enumerate(zip(self.server.items.runs(output), items, strict=True)):
            yield from self.server.item_events.item_events(asked, run, item, at)
        yield from self.last_events(self.response(asked, begun, output, items))

    def first_events(self, begun: Response) -> Iterator[Event]:
        yield {"type": "response.created", "response": begun}
        if begun["status"] == "queued":
            yield {"type": "response.queued", "response": begun}
        yield {"type": "response.in_progress", "response": {**begun, "status": "in_progress"}}

    def last_events(self, whole: Response) -> Iterator[Event]:
        yield {"type": f"response.{whole['status']}", "response": whole}

    def numbered(self, events: Iterable[Event]) -> Iterator[Event]:
        for at, event in enumerate(events):
            yield {"type": event["type"], "sequence_number": self.sequence_number(at), **event}

    def sequence_number(self, at: int) -> int:
        return at
