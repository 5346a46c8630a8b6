"""OpenVINO Model Server 7e4df0c, with the pipeline that batches. `answers/ovms` has the sources."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from dialects.stand_ins.common import TheirChat, TheirCompletions, TheirHttp, TheirRequests
from reference_server.completions import Answers
from reference_server.generation import Asked, Generation, Output, Piece
from reference_server.http import Call, Event, Stream
from reference_server.item_events import ItemEvents
from reference_server.items import Item, Items
from reference_server.models import Models
from reference_server.refusal import Refusal
from reference_server.responses import Response, Responses
from reference_server.tokenize import Tokenize
from reference_server.words import Token

from specvino.generated.errors import ErrorCode


class OvmsRequests(TheirRequests):
    system = "ovms"

    def accepted(self, call: Call, component: str) -> dict[str, Any]:
        if not isinstance(call.body, dict) or not isinstance(call.body.get("model"), str):
            raise Refusal(ErrorCode.INVALID_JSON, "The file is not valid json - model field is missing in JSON body")
        return super().accepted(call, component)


class OvmsHttp(TheirHttp):
    statuses: ClassVar = {
        ErrorCode.INVALID_JSON: 412,
        ErrorCode.MISSING_BODY: 412,
        ErrorCode.INVALID_API_KEY: 500,
        ErrorCode.MODEL_NOT_FOUND: 404,
        ErrorCode.METHOD_NOT_ALLOWED: 406,
        ErrorCode.UNSUPPORTED_MEDIA_TYPE: 404,
    }

    def envelope(self, refusal: Refusal) -> dict[str, Any]:
        return {"error": refusal.message}

    def status(self, refusal: Refusal) -> int:
        return 500 if refusal.message == "Model not found" else super().status(refusal)

    def authorize(self, call: Call) -> None:
        """The models are open."""
        if call.method == "POST":
            super().authorize(call)


class OvmsModels(Models):
    def described(self, model: str) -> dict[str, Any]:
        return {**super().described(model), "owned_by": "OVMS"}

    def retrieve_model(self, call: Call) -> dict[str, Any]:
        if call.parameters["model"] != self.server.model:
            raise Refusal(ErrorCode.MODEL_NOT_FOUND, "Model not found")
        return self.described(self.server.model)


class OvmsTokenize(Tokenize):
    def described(self, found: list[list[int]], body: Mapping[str, Any]) -> dict[str, Any]:
        return {"tokens": self.listed(found)}


class OvmsGeneration(Generation):
    def call_id(self) -> str:
        """9 letters and digits."""
        return f"call{self.count():05x}"


class OvmsChat(TheirChat):
    """An end comes with the last text."""

    def ends_with_text(self, output: Output) -> bool:
        return True

    def chat_completion(self, head: Mapping[str, Any], asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        whole = super().chat_completion(head, asked, outputs)
        del whole["id"]
        return whole

    def chat_message(self, asked: Asked, output: Output) -> dict[str, Any]:
        thoughts = output.joined("thoughts")
        return {
            "content": output.joined("text"),
            **({"reasoning_content": thoughts} if thoughts else {}),
            "role": "assistant",
            "tool_calls": [self.tool_call(each) for each in output.calls],
        }

    def chat_usage(self, asked: Asked, outputs: Sequence[Output]) -> dict[str, Any]:
        usage = super().chat_usage(asked, outputs)
        del usage["completion_tokens_details"]
        return usage

    def chat_logprobs(self, asked: Asked, tokens: Sequence[Token]) -> dict[str, Any] | None:
        found = super().chat_logprobs(asked, tokens)
        return found and {"content": [{**each, "top_logprobs": []} for each in found["content"]]}

    # The stream

    def beginning(self, head: Mapping[str, Any], asked: Asked, output: Output) -> Iterator[Event]:
        """Without probabilities or usage."""
        delta = {"role": "assistant", "content": None}
        chunk = super().chat_chunk(head, asked, [{"index": output.index, "delta": delta, "finish_reason": None}])
        del chunk["id"]
        yield chunk

    def deltas(self, asked: Asked, piece: Piece) -> Iterator[dict[str, Any]]:
        for delta in super().deltas(asked, piece):
            delta.pop("reasoning", None)
            if piece.id:
                del delta["tool_calls"][0]["function"]["arguments"]
            yield delta

    def chat_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        chunk = super().chat_chunk(head, asked, choices)
        del chunk["id"]
        return {**chunk, **({"usage": None} if self.wants_usage(asked) else {})}


class OvmsCompletions(TheirCompletions):
    echoes_with_text = True

    def ends_with_text(self, output: Output) -> bool:
        return True

    def completion(self, head: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        whole = super().completion(head, answers)
        del whole["id"]
        return whole

    def completion_logprobs(self, asked: Asked, tokens: Sequence[Token], offset: int) -> dict[str, Any] | None:
        found = super().completion_logprobs(asked, tokens, offset)
        return found and {**found, "top_logprobs": [{each.text: each.logprob} for each in tokens]}

    def text_offsets(self, tokens: Sequence[Token], offset: int) -> list[int]:
        """In bytes."""
        found = [offset]
        for token in tokens[:-1]:
            found.append(found[-1] + len(token.text.encode()))
        return found

    def text_beginning(
        self, head: Mapping[str, Any], asked: Asked, output: Output, offsets: dict[int, int]
    ) -> Iterator[Event]:
        chunk = self.completion_chunk(head, asked, [{"index": output.index, "text": "", "finish_reason": None}])
        chunk.pop("usage", None)
        yield chunk

    def completion_chunk(self, head: Mapping[str, Any], asked: Asked, choices: list[dict[str, Any]]) -> Event:
        chunk = super().completion_chunk(head, asked, choices)
        del chunk["id"]
        wants = self.server.chat.wants_usage(asked)
        return {**chunk, "object": "text_completion.chunk", **({"usage": None} if wants else {})}


SETTINGS = ("temperature", "top_p", "min_p", "max_output_tokens")


class OvmsResponses(Responses):
    def response_stream(self, events: Iterable[Event]) -> Stream:
        return Stream(events, terminator="[DONE]")

    def response_id(self) -> str:
        """The second of the request."""
        return f"resp-{self.server.http.now()}"

    def begun_response(self, body: Mapping[str, Any]) -> Response:
        choice = self.echoed_choice(body.get("tool_choice", "auto")) if body.get("tools") else "none"
        return {
            "id": self.response_id(),
            "object": "response",
            "created_at": self.server.http.now(),
            "error": None,
            "model": body["model"],
            "status": "in_progress",
            "parallel_tool_calls": True,
            "store": True,
            "text": {"format": {"type": "text"}},
            "tool_choice": choice,
            "tools": self.echoed_tools(body),
            "truncation": "disabled",
            "metadata": {},
            **{name: body[name] for name in SETTINGS if name in body},
            "output": [],
        }

    def stores(self, body: Mapping[str, Any]) -> bool:
        return False

    def echoed_tools(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        found = super().echoed_tools(body)
        return [{name: tool[name] for name in ("type", "name", "parameters") if name in tool} for tool in found]

    def response(self, asked: Asked, begun: Response, output: Output, items: Sequence[Item]) -> Response:
        whole = super().response(asked, begun, output, items)
        unused = "completed_at" if whole["status"] == "incomplete" else "incomplete_details"
        del whole[unused]
        return whole

    def incomplete_details(self) -> dict[str, str]:
        return {"reason": "max_tokens"}

    def response_usage(self, asked: Asked, output: Output) -> dict[str, Any]:
        usage = super().response_usage(asked, output)
        return {name: number for name, number in usage.items() if isinstance(number, int)}

    def sequence_number(self, at: int) -> int:
        return at + 1


class OvmsItems(Items):
    def message_item(self, part: Mapping[str, Any], status: str) -> Item:
        return {**super().message_item(part, status), "id": "msg-0"}

    def text_part(self, text: str, logprobs: list[dict[str, Any]]) -> dict[str, Any]:
        return {"type": "output_text", "text": text, "annotations": []}

    def call_item(self, first: Piece, arguments: str, status: str) -> Item:
        item = super().call_item(first, arguments, status)
        return {**item, "id": item["call_id"]}

    def reasoning_item(self, asked: Asked, thoughts: str, status: str) -> Item:
        return {"id": "rs-0", "type": "reasoning", "summary": [{"type": "summary_text", "text": thoughts}]}

    def begun(self, item: Item) -> Item:
        if item["type"] == "reasoning":
            return {**item, "summary": []}
        return super().begun(item)


class OvmsItemEvents(ItemEvents):
    def arguments_delta(self, piece: Piece, place: Mapping[str, Any]) -> Event:
        return {**super().arguments_delta(piece, place), "call_id": place["item_id"]}

    def arguments_done(self, item: Item, place: Mapping[str, Any]) -> Event:
        event = super().arguments_done(item, place)
        del event["name"]
        return {**event, "call_id": item["call_id"]}

    def part_delta(self, asked: Asked, piece: Piece, inside: str, place: Mapping[str, Any]) -> Event:
        event = super().part_delta(asked, piece, inside, place)
        event.pop("logprobs", None)
        return event


PARTS = (
    OvmsGeneration,
    OvmsRequests,
    OvmsHttp,
    OvmsModels,
    OvmsTokenize,
    OvmsChat,
    OvmsCompletions,
    OvmsResponses,
    OvmsItems,
    OvmsItemEvents,
)
