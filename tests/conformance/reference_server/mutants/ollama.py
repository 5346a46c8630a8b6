"""Faults of Ollama's own API."""

from collections.abc import Iterator, Mapping
from typing import Any

from reference_server.generation import Asked, Output
from reference_server.http import Call, Event, Headers, Http, Stream
from reference_server.ollama import Form, Ollama
from reference_server.refusal import Refusal
from specvino.generated.errors import ErrorCode


class NoConversations(Ollama):
    """The answer to a conversation is in the form of that to a prompt."""

    breaks = {"ollama_chat/capabilities/endpoint", "ollama_chat/rules/answer-shape"}

    def message_form(self, text: str, thoughts: str, calls: Any) -> dict[str, Any]:
        return self.text_form(text, thoughts, calls)


class TextsAsMessages(Ollama):
    """The answer to a prompt is in the form of that to a conversation."""

    breaks = {"ollama_generate/capabilities/endpoint", "ollama_generate/rules/answer-shape"}

    def text_form(self, text: str, thoughts: str, calls: Any) -> dict[str, Any]:
        return self.message_form(text, thoughts, calls)


class FailsOnTools(Ollama):
    """A request with tools is a failure of the server."""

    breaks = {"ollama_chat/capabilities/tools"}

    def ollama_chat(self, call: Call) -> dict[str, Any] | Stream:
        if call.body.get("tools"):
            raise Refusal(ErrorCode.INTERNAL_ERROR, "The server failed.")
        return super().ollama_chat(call)


class Uncounted(Ollama):
    """A complete answer has no counts of tokens."""

    breaks = {"ollama_chat/basics/answers", "ollama_generate/texts/answers"}

    def ended(self, asked: Asked, output: Output) -> dict[str, Any]:
        ended = super().ended(asked, output)
        return {name: value for name, value in ended.items() if not name.endswith("_count")}


class IgnoresNumPredict(Ollama):
    """Answers are as long as the model likes."""

    breaks = {"ollama_chat/rules/token-limit", "ollama_generate/rules/token-limit"}

    def limit(self, options: Mapping[str, Any]) -> int | None:
        return None


class CutIsStopped(Ollama):
    """An answer that the limit cut says that it ended by itself."""

    breaks = {"ollama_chat/basics/limit"}

    def reason(self, output: Output) -> str:
        return "stop"


class IgnoresStopOption(Ollama):
    """Stop strings don't end answers."""

    breaks = {"ollama_chat/basics/stop"}

    def stops(self, options: Mapping[str, Any]) -> list[str]:
        return []


class IgnoresSeedOption(Ollama):
    """Answers with a seed are drawn anew."""

    breaks = {"ollama_chat/basics/seed"}

    def seed(self, options: Mapping[str, Any]) -> int | None:
        return None


class SystemMessagesUnread(Ollama):
    """The text of a system message isn't a part of the prompt."""

    breaks = {"ollama_chat/basics/system"}

    def content(self, message: Mapping[str, Any]) -> str:
        return "" if message["role"] == "system" else super().content(message)


class ResultsOfToolsUnread(Ollama):
    """The text of a call's result isn't a part of the prompt."""

    breaks = {"ollama_chat/formats/result"}

    def content(self, message: Mapping[str, Any]) -> str:
        return "" if message["role"] == "tool" else super().content(message)


class InstructionsUnread(Ollama):
    """The instructions for a prompt aren't a part of it."""

    breaks = {"ollama_generate/texts/system"}

    def turns(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        return super().turns({name: value for name, value in body.items() if name != "system"})


class RawPromptsRendered(Ollama):
    """A raw prompt becomes a conversation, too."""

    breaks = {"ollama_generate/texts/raw"}

    def is_raw(self, body: Mapping[str, Any]) -> bool:
        return False


class LoadedAsStopped(Ollama):
    """What only loads the model says that an answer ended."""

    breaks = {"ollama_chat/basics/loads", "ollama_generate/texts/loads"}

    def loaded(self) -> dict[str, Any]:
        return {"done": True, "done_reason": "stop"}


class LoadedInvalid(Ollama):
    """Of what only loads the model, the reason is one that the document lacks."""

    breaks = {"ollama_chat/rules/answer-shape", "ollama_generate/rules/answer-shape"}

    def loaded(self) -> dict[str, Any]:
        return {"done": True, "done_reason": "loaded"}


class AnyModelForConversations(Ollama):
    """Any model's name is that of the one model."""

    breaks = {"ollama_chat/basics/model-is-unknown"}

    def ollama_chat(self, call: Call) -> dict[str, Any] | Stream:
        call.body = {**call.body, "model": self.server.model}
        return super().ollama_chat(call)


class WrongOptionsLeftOut(Ollama):
    """Numbers of options that are texts are left out."""

    breaks = {"ollama_chat/basics/wrong-type"}

    def ollama_chat(self, call: Call) -> dict[str, Any] | Stream:
        options = call.body.get("options") or {}
        numbers = {name: value for name, value in options.items() if not isinstance(value, str)}
        call.body = {**call.body, "options": numbers}
        return super().ollama_chat(call)


class AnyModelForPrompts(Ollama):
    """Any model's name is that of the one model."""

    breaks = {"ollama_generate/texts/model-is-unknown"}

    def ollama_generate(self, call: Call) -> dict[str, Any] | Stream:
        call.body = {**call.body, "model": self.server.model}
        return super().ollama_generate(call)


class FormsUnread(Ollama):
    """A format has no effect."""

    breaks = {"ollama_chat/capabilities/json"}

    def form(self, format: Any) -> dict[str, Any] | None:
        return None


class OtherSchema(Ollama):
    """The answer is an object that isn't of the schema."""

    breaks = {"ollama_chat/formats/schema"}

    def form(self, format: Any) -> dict[str, Any] | None:
        return super().form("json" if format else format)


class ArgumentsAsText(Ollama):
    """The arguments of a call are a text, as in OpenAI's API."""

    breaks = {"ollama_chat/formats/call", "ollama_chat/rules/answer-shape"}

    def arguments(self, text: str) -> Any:
        return text


class CallsAnotherTool(Ollama):
    """A call is one of a tool that the request doesn't have."""

    breaks = {"ollama_chat/rules/arguments-valid"}

    def called(self, index: int, call: Mapping[str, str]) -> dict[str, Any]:
        return super().called(index, {**call, "name": "get_wether"})


class StreamsWhenAsked(Ollama):
    """Without `stream`, the answer comes in one piece, as in OpenAI's API."""

    breaks = {"ollama_chat/streams/by-default", "ollama_generate/streams/by-default"}

    def streams(self, body: Mapping[str, Any]) -> bool:
        return body.get("stream") is True


class LinesAsEvents(Http):
    """Lines are called server-sent events."""

    breaks = {"ollama_chat/streams/by-default", "ollama_generate/streams/by-default"}

    def line_headers(self, call: Call) -> Headers:
        return self.stream_headers(call)


class EachLineDone(Ollama):
    """Each line of a stream is done."""

    breaks = {"ollama_chat/streams/last-line"}

    def unfinished(self) -> dict[str, Any]:
        return {"done": True}


class LosesLastLine(Ollama):
    """A stream ends without the line that says why."""

    breaks = {"ollama_chat/rules/stream-order", "ollama_generate/rules/stream-order", "ollama_chat/streams/last-line"}
    faults = 3

    def last(self, body: Mapping[str, Any], asked: Asked, output: Output, form: Form) -> Iterator[Event]:
        yield from ()


class RepeatsItselfAtTheEnd(Ollama):
    """The last line of a stream has the whole text again."""

    breaks = {"ollama_chat/streams/parity", "ollama_generate/streams/parity"}
    faults = 2

    def last(self, body: Mapping[str, Any], asked: Asked, output: Output, form: Form) -> Iterator[Event]:
        for line in super().last(body, asked, output, form):
            yield {**line, **form(output.joined("text"), "", [])}


class LineBegunAtTheEnd(Http):
    """A stream ends with the beginning of another line."""

    breaks = {"ollama_chat/rules/stream-end", "ollama_generate/rules/stream-end"}

    def after_lines(self) -> bytes:
        return b"{"


class LinesWithoutTime(Ollama):
    """Answers and their parts have no time."""

    breaks = {
        "ollama_chat/rules/answer-shape",
        "ollama_chat/rules/event-shape",
        "ollama_generate/rules/answer-shape",
        "ollama_generate/rules/event-shape",
    }

    def head(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return {"model": body["model"]}


class ErrorsAsObjects(Ollama):
    """Errors are in OpenAI's form, and clients show an object instead of a message."""

    breaks = {"ollama_chat/rules/error-envelope", "ollama_generate/rules/error-envelope"}

    def refused(self, refusal: Refusal) -> dict[str, Any]:
        return {"error": refusal.error}


class ErrorsOfNoField(Ollama):
    """Errors never name the field at fault."""

    breaks = {"ollama_chat/basics/wrong-type", "ollama_chat/basics/model-is-unknown"}

    def refused(self, refusal: Refusal) -> dict[str, Any]:
        return {**super().refused(refusal), "param": None}


class RefusesInLines(Http):
    """What a stream of lines is refused for comes as its only line, after a 200."""

    breaks = {"ollama_chat/basics/model-is-unknown", "ollama_chat/basics/wrong-type"}

    async def refuse(self, call: Call, refusal: Refusal) -> None:
        if self.server.ollama.has_own_errors(call.path):
            await self.respond(call, 200, self.line(self.error(call, refusal)), self.line_headers(call))
        else:
            await super().refuse(call, refusal)
