"""Text completions gone wrong."""

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs

from reference_server.chat import Chat
from reference_server.completions import Answers, Completions
from reference_server.generation import Asked, Generation, Output
from reference_server.http import Event
from reference_server.models import Models
from reference_server.refusal import Refusal
from reference_server.requests import Requests
from reference_server.words import Token
from specvino.generated.errors import ErrorCode

# Prompts


class TimeInMilliseconds(Completions):
    """The time of a text is in milliseconds."""

    breaks = {"completions/prompts/answers"}

    def completion(self, head: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        return super().completion({**head, "created": head["created"] * 1000}, answers)


class NoChoices(Completions):
    """A text completion has no text."""

    breaks = {"completions/capabilities/endpoint", "completions/rules/answer-shape"}

    def completion(self, head: Mapping[str, Any], answers: Answers) -> dict[str, Any]:
        return {**super().completion(head, answers), "choices": []}


class AnyModel(Models):
    """Every name is that of the model."""

    breaks = {
        "chat/basics/model-is-unknown",
        "completions/prompts/model",
        "count_tokens/counts/model-is-unknown",
        "messages/basics/model-is-unknown",
        "tokenize/lists/model",
        "models/one/unknown*",
    }

    def require_model(self, model: str) -> None:
        pass


class TakesAnyPrompt(Requests):
    """Nobody looks at the prompt before it is read."""

    breaks = {
        "completions/prompts/empty",
        "completions/prompts/empty-list",
        "completions/prompts/missing",
        "completions/prompts/token-that-is-none",
        "completions/prompts/wrong-type",
        "completions/prompts/wrong-type-is-named",
        "transport/errors/streamed-broken",
    }
    faults = 2

    def violations(self, component: str, body: Any) -> Iterator[jsonschema_rs.ValidationError]:
        known = component == "CreateCompletionRequest" and isinstance(body, dict)
        return super().violations(component, {**body, "prompt": "Hi"} if known else body)


class LastPromptFirst(Completions):
    """Of several prompts the last one comes first."""

    breaks = {"completions/prompts/several"}

    def prompts(self, prompt: Any) -> list[Any]:
        return super().prompts(prompt)[::-1]


class CountsPromptsFirst(Generation):
    """The index counts the prompts before the choices."""

    breaks = {"completions/prompts/several-with-choices"}

    def index(self, asked: Asked, choice: int) -> int:
        return choice * 2 + asked.number if asked.n > 1 and asked.body.get("prompt") else super().index(asked, choice)


class JoinsPrompts(Completions):
    """Several prompts are taken for one."""

    breaks = {"completions/capabilities/prompts"}

    def prompts(self, prompt: Any) -> list[Any]:
        prompts = super().prompts(prompt)
        return [" ".join(prompts)] if len(prompts) > 1 and isinstance(prompts[0], str) else prompts


class PrintsLists(Completions):
    """A list of one prompt is printed, brackets and all."""

    breaks = {"completions/prompts/one-in-a-list"}

    def prompts(self, prompt: Any) -> list[Any]:
        return [str(prompt)] if isinstance(prompt, list) and len(prompt) == 1 else super().prompts(prompt)


class CountsTheFirstPrompt(Completions):
    """Of several prompts only the tokens of the first are counted."""

    breaks = {"completions/prompts/all-counted"}

    def completion_usage(self, answers: Answers) -> dict[str, Any]:
        made = super().completion_usage(answers)
        prompt = super().completion_usage(answers[:1])["prompt_tokens"]
        return {**made, "prompt_tokens": prompt, "total_tokens": prompt + made["completion_tokens"]}


class PrintsTokens(Completions):
    """Token ids are read as the text of their digits."""

    breaks = {"completions/prompts/tokens"}

    def prompt_ids(self, prompt: Any) -> list[int]:
        return super().prompt_ids(prompt if isinstance(prompt, str) else " ".join(map(str, prompt)))


class FailsOnTokens(Completions):
    """A prompt of token ids makes the server fail."""

    breaks = {"completions/capabilities/tokens"}

    def prompt_ids(self, prompt: Any) -> list[int]:
        return self.server.generation.words.encode(prompt.removesuffix("\0"))


class JoinsLists(Completions):
    """Several prompts of token ids are taken for one."""

    breaks = {"completions/prompts/lists-of-tokens"}

    def prompts(self, prompt: Any) -> list[Any]:
        prompts = super().prompts(prompt)
        return [[id for prompt in prompts for id in prompt]] if isinstance(prompts[0], list) else prompts


class ReadsNoSuchTokens(Completions):
    """Token ids that no token has are read as nothing."""

    breaks = {"completions/prompts/token-too-large"}

    def prompt_ids(self, prompt: Any) -> list[int]:
        return self.server.generation.words.encode(prompt) if isinstance(prompt, str) else list(prompt)


class AsciiOnly(Completions):
    """Texts lose what is not ASCII."""

    breaks = {"completions/prompts/any-script"}

    def completion_text(self, asked: Asked, output: Output) -> str:
        return super().completion_text(asked, output).encode("ascii", "replace").decode()


# Settings


class RefusesNeutral(Generation):
    """Fields that ask for nothing are refused."""

    breaks = {"completions/settings/neutral"}

    def require_settings(self, body: Mapping[str, Any]) -> None:
        super().require_settings(body)
        if "logit_bias" in body:
            raise Refusal(ErrorCode.UNSUPPORTED_PARAMETER, "logit_bias is not supported.", "logit_bias")


class NoLimit(Completions):
    """max_tokens has no effect on text completions."""

    breaks = {"completions/settings/limit", "completions/rules/token-limit"}

    def completion_limit(self, body: Mapping[str, Any]) -> int | None:
        return None


class TakesAnySetting(Requests):
    """Nobody looks at the settings of a text completion."""

    breaks = {
        "completions/settings/limit-below-zero",
        "completions/settings/limit-of-wrong-type",
        "completions/settings/n-of-none",
        "completions/settings/stop-of-wrong-type",
        "completions/settings/stream-options-alone",
        "completions/settings/temperature-of-wrong-type",
        "completions/settings/temperature-out-of-range",
    }
    faults = 2

    def violations(self, component: str, body: Any) -> Iterator[jsonschema_rs.ValidationError]:
        known = component == "CreateCompletionRequest" and isinstance(body, dict)
        judged = {name: body[name] for name in ("model", "prompt") if name in body} if known else body
        return super().violations(component, judged)


class OneChoice(Generation):
    """n has no effect."""

    breaks = {"chat/capabilities/n", "completions/capabilities/n"}

    def outputs(self, asked: Asked) -> list[Output]:
        return super().outputs(asked)[:1]


class ShowsAll(Generation):
    """All texts of which the best were wanted are shown."""

    breaks = {"completions/settings/best-of"}

    def outputs(self, asked: Asked) -> list[Output]:
        return [self.output(asked, choice) for choice in range(max(asked.n, asked.body.get("best_of", 1)))]


class BestOfFewer(Generation):
    """More texts may be wanted than are made, and other settings may contradict each other."""

    breaks = {"completions/settings/best-of-too-few"}

    def require_settings(self, body: Mapping[str, Any]) -> None:
        pass


class FailsOnBestOf(Generation):
    """best_of makes the server fail."""

    breaks = {"completions/capabilities/best-of"}

    def require_settings(self, body: Mapping[str, Any]) -> None:
        assert body.get("best_of", 1) == 1
        super().require_settings(body)


class CountsEcho(Completions):
    """The prompt that is repeated counts as the answer's."""

    breaks = {"completions/settings/echo"}
    faults = 2

    def completion_usage(self, answers: Answers) -> dict[str, Any]:
        usage = super().completion_usage(answers)
        echoed = sum(len(self.echoed(asked)) for asked, _ in answers)
        made = usage["completion_tokens"] + echoed
        return {**usage, "completion_tokens": made, "total_tokens": usage["prompt_tokens"] + made}


class AlwaysEchoes(Completions):
    """The prompt is always repeated."""

    breaks = {"completions/settings/no-echo"}

    def echoed(self, asked: Asked) -> list[Token]:
        return self.server.generation.words.tokens(self.server.generation.words.decode(asked.prompt))


class NeverEchoes(Completions):
    """echo has no effect."""

    breaks = {"completions/capabilities/echo"}

    def echoed(self, asked: Asked) -> list[Token]:
        return []


class IgnoresLaterStops(Generation):
    """Of several stop texts only the first has an effect."""

    breaks = {"completions/settings/stops"}

    def stops(self, body: Mapping[str, Any]) -> list[str]:
        return super().stops(body)[:1]


class IgnoresSeed(Generation):
    """Texts are drawn, whatever the seed."""

    breaks = {"completions/settings/seed"}

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        return super().seed({**body, "seed": self.count()}, choice)


class DrawsAtZero(Generation):
    """At temperature 0 texts are drawn, too."""

    breaks = {"completions/settings/coldest"}

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        return super().seed({**body, "temperature": 1, "top_p": 1, "top_k": 40}, choice)


class DropsInSilence(Requests):
    """Fields without effect are dropped in silence."""

    breaks = {"completions/settings/without-effect"}

    def unsupported(self, body: Any, component: str) -> list[str]:
        return []


class NoUsageInStreams(Chat):
    """Streams have no usage."""

    breaks = {"completions/settings/usage-in-streams"}

    def wants_usage(self, asked: Asked) -> bool:
        return False


class UsageInAllStreams(Chat):
    """Streams have usage, whether or not it is asked for."""

    breaks = {"completions/settings/no-usage-in-streams"}

    def wants_usage(self, asked: Asked) -> bool:
        return True


# Streams


class DropsLastPieces(Completions):
    """A stream misses the last piece of each text."""

    breaks = {"completions/streams/*"}

    def completion_events(self, head: Mapping[str, Any], answers: Answers) -> Iterator[Event]:
        held: dict[int, Event] = {}
        for event in super().completion_events(head, answers):
            choice = event["choices"][0] if event["choices"] else None
            if choice is None or choice["finish_reason"]:
                yield event
                continue
            if choice["index"] in held:
                yield held[choice["index"]]
            held[choice["index"]] = event
