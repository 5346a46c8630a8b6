"""What the model says, and how it ends."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from reference_server.part import Part
from reference_server.refusal import Refusal
from reference_server.schemas import Unsatisfiable, instance
from reference_server.tools import Offer
from reference_server.words import Token, Words
from specvino.generated.errors import ErrorCode

if TYPE_CHECKING:
    from reference_server.server import ReferenceServer

CONTEXT = 8192
"""The most tokens of prompt and answer."""

LITTLE = 0.01
"""A share of the probability that no more than one token has."""

CITIES = ("Paris", "Berlin", "Tokyo", "London", "Madrid", "Rome")
NO_FORM: dict[str, Any] = {"type": "text"}

Kind = Literal["text", "thoughts", "call"]
Reason = Literal["stop", "length", "tool_calls"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt and what is wanted of its answers; `question` is the user's last text, `number` which prompt it is."""

    body: Mapping[str, Any]
    prompt: Sequence[int]
    limit: int | None
    offer: Offer = field(default_factory=lambda: Offer({}))
    form: Mapping[str, Any] = field(default_factory=lambda: NO_FORM)
    question: str = ""
    thinks: bool = False
    number: int = 0

    @property
    def n(self) -> int:
        return int(self.body.get("n", 1))


@dataclass(frozen=True, slots=True)
class Segment:
    """Something that the model says: of a call, `text` are the arguments."""

    kind: Kind
    text: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """What one step gives. A call's first piece has its name and id; `call` is its number."""

    kind: Kind
    text: str
    tokens: tuple[Token, ...] = ()
    call: int = 0
    name: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """One choice. `rest` are tokens without text after the last piece; `made` counts all."""

    index: int
    pieces: tuple[Piece, ...]
    reason: Reason
    rest: tuple[Token, ...]
    made: int

    def joined(self, kind: Kind) -> str:
        return "".join(piece.text for piece in self.pieces if piece.kind == kind)

    @property
    def calls(self) -> list[dict[str, str]]:
        """Their id, name and arguments."""
        collected: list[dict[str, str]] = []
        for piece in self.pieces:
            if piece.kind == "call":
                if piece.id:
                    collected.append({"id": piece.id, "name": piece.name, "arguments": ""})
                collected[piece.call]["arguments"] += piece.text
        return collected

    @property
    def tokens(self) -> list[Token]:
        return [*(token for piece in self.pieces for token in piece.tokens), *self.rest]

    @property
    def thought(self) -> int:
        """Tokens of thoughts."""
        return sum(len(piece.tokens) for piece in self.pieces if piece.kind == "thoughts")


class Generation(Part):
    """Each step is a method of its own."""

    words = Words()

    def __init__(self, server: "ReferenceServer") -> None:
        super().__init__(server)
        self.counted = 0

    def count(self) -> int:
        """A number that no other call of this got."""
        self.counted += 1
        return self.counted

    # What is asked

    def require_settings(self, body: Mapping[str, Any]) -> None:
        """Raises Refusal for what the schema can't say."""
        if "best_of" in body and body.get("n", 1) > body["best_of"]:
            raise Refusal(ErrorCode.INVALID_VALUE, "n may be at most best_of.", "n")
        for name in ("num_assistant_tokens", "assistant_confidence_threshold", "max_ngram_size"):
            if name in body:
                raise Refusal(ErrorCode.UNSUPPORTED_PARAMETER, f"{name} needs a draft model.", name)

    def require_context(self, asked: Asked, param: str, limit: str) -> None:
        """Raises Refusal where prompt and answer don't fit."""
        if len(asked.prompt) >= CONTEXT:
            message = f"The prompt has {len(asked.prompt)} tokens, but the model's context {CONTEXT}."
            raise Refusal(ErrorCode.CONTEXT_LENGTH_EXCEEDED, message, param)
        if asked.limit is not None and len(asked.prompt) + asked.limit > CONTEXT:
            message = f"Prompt and answer together are more than the context of {CONTEXT} tokens."
            raise Refusal(ErrorCode.CONTEXT_LENGTH_EXCEEDED, message, limit)

    def form(self, format: Mapping[str, Any] | None, param: str) -> Mapping[str, Any]:
        """The form that an answer must have, by response_format or text.format. Raises Refusal."""
        if format is None:
            return NO_FORM
        if format["type"] == "json_schema":
            inner = format.get("json_schema", format)
            schema = inner.get("schema", inner if inner is not format else None) or {}
            where = f"{param}.json_schema.schema" if "json_schema" in format else f"{param}.schema"
            self.satisfied(schema, where)
            return {"type": "json_schema", "schema": schema}
        return format

    def satisfied(self, schema: Any, param: str) -> Any:
        """An instance of a schema. Raises Refusal."""
        try:
            return instance(schema)
        except (ValueError, Unsatisfiable) as error:
            raise Refusal(ErrorCode.INVALID_SCHEMA, f"{param} can't be used: {error}", param) from None

    def thinks(self, body: Mapping[str, Any]) -> bool:
        """Whether the model thinks before it answers."""
        effort = body.get("reasoning_effort") or (body.get("reasoning") or {}).get("effort") or "none"
        return bool((body.get("chat_template_kwargs") or {}).get("enable_thinking", effort != "none"))

    # What is said

    def outputs(self, asked: Asked) -> list[Output]:
        return [self.output(asked, choice) for choice in range(asked.n)]

    def output(self, asked: Asked, choice: int) -> Output:
        draw = self.words.draw(asked.prompt, self.seed(asked.body, choice))
        budget = self.budget(asked)
        pieces: list[Piece] = []
        held: tuple[Token, ...] = ()
        made, calls, cut = 0, 0, False
        for part in self.script(asked, draw, budget):
            tokens, stopped = self.words.tokens(part.text), False
            if part.kind == "text":
                tokens, stopped = self.stopped(tokens, asked.body)
            if part.kind == "call":
                pieces.append(Piece("call", "", held, calls, part.name, self.call_id()))
                held = ()
            for token in tokens[: budget - made]:
                held = (*held, token)
                if token.text:
                    pieces.append(Piece(part.kind, token.text, held, calls))
                    held = ()
            cut = len(tokens) > budget - made
            made += min(len(tokens), budget - made)
            calls += part.kind == "call"
            if cut or stopped:
                break
        reason = self.reason(cut=cut, calls=calls)
        return Output(self.index(asked, choice), tuple(pieces), reason, held, made)

    def index(self, asked: Asked, choice: int) -> int:
        return asked.number * asked.n + choice

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        """What choices are drawn with: None is always the likeliest."""
        if self.is_greedy(body):
            return None
        return int(body.get("seed", self.count() << 64)) + choice

    def is_greedy(self, body: Mapping[str, Any]) -> bool:
        """Whether there is nothing to draw."""
        little = body.get("temperature") == 0 or body.get("top_p", 1) <= LITTLE
        return little or body.get("top_k") == 1 or body.get("min_p", 0) >= 1 - LITTLE

    def budget(self, asked: Asked) -> int:
        """The most tokens of one choice."""
        return CONTEXT - len(asked.prompt) if asked.limit is None else asked.limit

    def script(self, asked: Asked, draw: random.Random, budget: int) -> Iterator[Segment]:
        """What the model wants to say."""
        if (word := self.biased(asked.body)) is not None:
            yield Segment("thoughts" if asked.thinks else "text", word * (budget + 1 if asked.limit else 40))
            return
        if asked.thinks:
            yield Segment("thoughts", "".join(self.words.sentence(draw, 5)))
        if asked.offer.functions and (asked.offer.forced or self.wants_call(asked)):
            yield from self.calls(asked)
        elif asked.form["type"] != "text":
            yield Segment("text", self.formed(asked.form))
        else:
            yield Segment("text", "".join(self.words.sentence(draw, self.length(asked, draw, budget))))

    def biased(self, body: Mapping[str, Any]) -> str | None:
        """The only token that a bias leaves."""
        bias = body.get("logit_bias") or {}
        return next((self.words.text_of(int(id)) for id, value in bias.items() if value == 100), None)

    def length(self, asked: Asked, draw: random.Random, budget: int) -> int:
        """Words after which the model ends its turn."""
        endless = asked.body.get("ignore_eos") or "long story" in asked.question
        return budget + 1 if endless else draw.randint(6, 40)

    def wants_call(self, asked: Asked) -> bool:
        """Whether the model calls of itself: when it is asked for the weather."""
        return "weather" in asked.question.lower()

    def calls(self, asked: Asked) -> Iterator[Segment]:
        """One call, or one for each city that is asked about."""
        name, function = next(iter(asked.offer.functions.items()))
        if function.get("type") == "custom":
            yield Segment("call", "Hello to everybody.", name)
            return
        made = self.arguments(function)
        cities = [city for city in CITIES if city in asked.question] or [""]
        for city in cities if asked.offer.several else cities[:1]:
            shown = {key: city if city and self.is_city(function, key) else value for key, value in made.items()}
            yield Segment("call", json.dumps(shown, ensure_ascii=False), name)

    def arguments(self, function: Mapping[str, Any]) -> dict[str, Any]:
        """What a function is called with."""
        made = self.satisfied({"type": "object", **(function.get("parameters") or {})}, "tools")
        return dict(made)

    def is_city(self, function: Mapping[str, Any], name: str) -> bool:
        parameters = function.get("parameters") or {}
        return (parameters.get("properties") or {}).get(name) == {"type": "string"}

    def call_id(self) -> str:
        return f"call_{self.count():08x}"

    def formed(self, form: Mapping[str, Any]) -> str:
        """A text of a form."""
        match form["type"]:
            case "json_object":
                return '{"color": "blue"}'
            case "json_schema":
                return json.dumps(instance(form["schema"]), ensure_ascii=False)
            case "const_string":
                return str(form.get("value", ""))
        raise Refusal(
            ErrorCode.INVALID_SCHEMA, f"{form['type']} is a form that this server can't make.", "response_format"
        )

    # How it ends

    def stops(self, body: Mapping[str, Any]) -> list[str]:
        stop = body.get("stop") or []
        return [stop] if isinstance(stop, str) else list(stop)

    def stopped(self, tokens: list[Token], body: Mapping[str, Any]) -> tuple[list[Token], bool]:
        """The tokens up to the first stop text, which has no part in their texts; and whether there is one."""
        stops, text = self.stops(body), ""
        for made, token in enumerate(tokens, 1):
            text += token.text
            positions = [(text.index(stop), stop) for stop in stops if stop in text]
            if positions:
                start, stop = min(positions)
                kept = self.kept(start, stop, body)
                return [*self.cut(tokens[:made], kept)], True
        return tokens, False

    def kept(self, start: int, stop: str, body: Mapping[str, Any]) -> int:
        """How many characters of a text with a stop text at `start` are shown."""
        return start + len(stop) * bool(body.get("include_stop_str_in_output"))

    def cut(self, tokens: Sequence[Token], kept: int) -> Iterator[Token]:
        """The tokens of a text of which only some characters are shown."""
        at = 0
        for token in tokens:
            yield Token(token.id, token.text[: max(0, kept - at)], token.logprob)
            at += len(token.text)

    def reason(self, *, cut: bool, calls: int) -> Reason:
        if cut:
            return "length"
        return "tool_calls" if calls else "stop"

    # Numbers

    def completion_tokens(self, outputs: Sequence[Output]) -> int:
        return sum(output.made for output in outputs)

    def total(self, prompt: int, completion: int) -> int:
        return prompt + completion
