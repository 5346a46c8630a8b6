"""Faults of the Messages API."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from reference_server.generation import Asked, Output
from reference_server.http import Call, Event, Stream
from reference_server.messages import Block, Messages
from reference_server.refusal import Refusal


class Silent(Messages):
    """The answer has no blocks."""

    breaks = {"messages/basics/answers"}

    def message_blocks(self, output: Output) -> list[Block]:
        return []


class ContentAsText(Messages):
    """The content is a text instead of blocks."""

    breaks = {"messages/capabilities/endpoint", "messages/rules/answer-shape"}

    def message_blocks(self, output: Output) -> Any:
        return output.joined("text")


class SystemUnread(Messages):
    """The system prompt isn't a part of the prompt."""

    breaks = {"messages/basics/system"}

    def system(self, body: Mapping[str, Any]) -> list[dict[str, str]]:
        return []


class FirstBlockOnly(Messages):
    """Of several blocks, only the first is read."""

    breaks = {"messages/basics/blocks"}

    def text(self, content: Any) -> str:
        return super().text(content if isinstance(content, str) else content[:1])


class LimitOptional(Messages):
    """A request without max_tokens gets a limit."""

    breaks = {"messages/basics/max-tokens-missing"}

    def messages(self, call: Call) -> dict[str, Any] | Stream:
        call.body.setdefault("max_tokens", 16)
        return super().messages(call)


class MessagesOptional(Messages):
    """A request without messages gets one."""

    breaks = {"messages/basics/messages-missing"}

    def messages(self, call: Call) -> dict[str, Any] | Stream:
        call.body.setdefault("messages", [{"role": "user", "content": "hello"}])
        return super().messages(call)


class KeyInOneHeader(Messages):
    """A key in x-api-key isn't read."""

    breaks = {"messages/basics/key-in-its-header"}

    def key(self, call: Call) -> str:
        return ""


class NeverCalls(Messages):
    """No tool is called, whatever the choice."""

    breaks = {"messages/capabilities/tools"}

    def choice(self, choice: Mapping[str, Any]) -> dict[str, Any]:
        return {"tool_choice": "none"}


class CallsAnyway(Messages):
    """A tool is called though none may be."""

    breaks = {"messages/tools/no-call"}

    def choice(self, choice: Mapping[str, Any]) -> dict[str, Any]:
        return super().choice({"type": "any"} if choice["type"] == "none" else choice)


class ResultsUnread(Messages):
    """The result of a call isn't a part of the prompt."""

    breaks = {"messages/tools/result"}

    def result(self, block: Mapping[str, Any]) -> str:
        return ""


class ResultsOfNothing(Messages):
    """A result may belong to no call."""

    breaks = {"messages/tools/result-without-a-call"}

    def require_calls(self, messages: Sequence[Mapping[str, Any]]) -> None:
        return


class InputOfAnotherSchema(Messages):
    """A call's input isn't of the tool's schema."""

    breaks = {"messages/rules/arguments-valid", "messages/tools/forced-call"}
    faults = 2

    def input(self, arguments: str) -> Any:
        return {"city": 5}


class LimitUnnamed(Messages):
    """An answer that the limit ended says that it is complete."""

    breaks = {"messages/endings/limit"}

    def ended(self, asked: Asked, output: Output) -> dict[str, Any]:
        return {**super().ended(asked, output), "stop_reason": "end_turn"}


class StopSequencesUnread(Messages):
    """The first stop sequence has no effect."""

    breaks = {"messages/endings/stop-sequence", "messages/endings/stop-sequence-streamed"}

    def stops(self, body: Mapping[str, Any]) -> list[str]:
        return super().stops(body)[1:]


class TokensCountedTwice(Messages):
    """The usage has more tokens than were made."""

    breaks = {"messages/rules/token-limit"}

    def usage(self, asked: Asked, made: int) -> dict[str, Any]:
        return super().usage(asked, 2 * made)


class ThoughtsBeyondTheAnswer(Messages):
    """More tokens are reasoning than were made."""

    breaks = {"messages/rules/usage-adds-up"}

    def usage(self, asked: Asked, made: int) -> dict[str, Any]:
        return {**super().usage(asked, made), "output_tokens_details": {"thinking_tokens": made + 1}}


class OneId(Messages):
    """All messages have the same id."""

    breaks = {"messages/rules/ids-unique"}

    def message_id(self) -> str:
        return "msg_1"


class BlocksUnclosed(Messages):
    """A block of a stream doesn't end."""

    breaks = {"messages/rules/stream-order"}

    def block_events(self, index: int, block: Block, output: Output) -> Iterator[Event]:
        return (event for event in super().block_events(index, block, output) if event["type"] != "content_block_stop")


class BlocksAtOneIndex(Messages):
    """All blocks of a stream have the index 0."""

    breaks = {"messages/streams/several-calls"}

    def block_events(self, index: int, block: Block, output: Output) -> Iterator[Event]:
        for event in super().block_events(index, block, output):
            yield {**event, "index": 0}


class DeltasUnderAnotherName(Messages):
    """The pieces of a block have another field."""

    breaks = {"messages/rules/event-shape"}
    faults = 2

    def deltas(self, index: int, block: Block, output: Output) -> Iterator[dict[str, str]]:
        return ({"type": "text_delta", "value": "x"} for _ in super().deltas(index, block, output))


class PiecesTwice(Messages):
    """Each piece of a block comes twice."""

    breaks = {"messages/streams/parity", "messages/streams/call-parity"}
    faults = 2

    def deltas(self, index: int, block: Block, output: Output) -> Iterator[dict[str, str]]:
        return (delta for delta in super().deltas(index, block, output) for _ in range(2))


class ErrorsAsOpenAI(Messages):
    """Errors have the shape of OpenAI's."""

    breaks = {"messages/rules/error-envelope", "count_tokens/rules/error-envelope"}

    def refused(self, call: Call, refusal: Refusal) -> dict[str, Any]:
        return {"error": refusal.error}


class CountedTwice(Messages):
    """The count of a conversation is twice its tokens."""

    breaks = {"count_tokens/counts/as-used"}

    def count_tokens(self, call: Call) -> dict[str, Any]:
        return {"input_tokens": 2 * super().count_tokens(call)["input_tokens"]}


class CountedUnderAnotherName(Messages):
    """The count has OpenAI's name."""

    breaks = {"count_tokens/rules/answer-shape"}

    def count_tokens(self, call: Call) -> dict[str, Any]:
        return {"prompt_tokens": super().count_tokens(call)["input_tokens"]}
