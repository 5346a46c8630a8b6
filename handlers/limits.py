"""What this server takes of what the document allows: the operator's limits, and settings that the engine lacks."""

from dataclasses import dataclass

from specvino.engine.protocol import Drafting, ModelInfo
from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.handlers.or_none import or_none, value_of
from specvino.handlers.sampling import Body

BEST_OF = 20

TOKEN_LIMITS = ("max_completion_tokens", "max_tokens", "max_output_tokens")

# The settings of speculative decoding with the kinds that each is for, and the options of `serve` that switch them on.
DRAFTING: dict[str, tuple[Drafting, ...]] = {
    "num_assistant_tokens": ("draft_model", "prompt_lookup"),
    "assistant_confidence_threshold": ("draft_model",),
    "max_ngram_size": ("prompt_lookup",),
}
_OPTIONS: dict[Drafting, str] = {"draft_model": "--draft-model", "prompt_lookup": "--prompt-lookup"}


def require_no_penalty_in_search(body: Body) -> None:
    """Raises ApiError for penalties in a beam search.

    In chat and completions it is a rule of the schema, so that the validation has refused it before; in the schema of
    responses one more rule would be more than Schemathesis can take apart.
    """
    penalties = (or_none(body.frequency_penalty) or 0, or_none(body.presence_penalty) or 0)
    repetition = or_none(body.repetition_penalty)
    if (or_none(body.best_of) or 1) > 1 and (any(penalties) or repetition not in (None, 1)):
        message = (
            "best_of above 1 is a beam search, which takes no penalties: frequency_penalty and presence_penalty must "
            "be 0, repetition_penalty 1."
        )
        raise ApiError(ErrorCode.INVALID_VALUE, message, param="best_of")


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a request may ask for; `max_tokens` None is as much as the model's context holds.

    `trust_request_chat_template`: requests may bring chat templates of their own.
    `seconds` is the time that a request has, from its check to its end; None is all the time it takes.
    """

    max_tokens: int | None = None
    best_of: int = BEST_OF
    seconds: float | None = None
    trust_request_chat_template: bool = False

    def require(self, body: Body, model: ModelInfo) -> None:
        """Raises ApiError for a request beyond the limits, or one that needs what such speculative decoding lacks."""
        drafting = model.drafting
        for name in TOKEN_LIMITS:
            _require_at_most(self.max_tokens, value_of(body, name), name)
        _require_at_most(self.best_of, or_none(body.best_of), "best_of")
        _require_candidates(body)
        _require_room(body)
        self.require_trust(value_of(body, "chat_template"))
        if drafting is not None and (or_none(body.best_of) or 1) > 1:
            message = f"best_of must be 1 here: a server with {_OPTIONS[drafting]} doesn't support beam search."
            raise ApiError(ErrorCode.UNSUPPORTED_PARAMETER, message, param="best_of")
        if drafting is not None and not model.full_logits and (or_none(body.min_tokens) or 0) > 0:
            message = f"min_tokens must be 0 here: a server with {_OPTIONS[drafting]} doesn't support a least length."
            raise ApiError(ErrorCode.UNSUPPORTED_PARAMETER, message, param="min_tokens")
        for name, kinds in DRAFTING.items():
            if drafting not in kinds and value_of(body, name) is not None:
                options = " or ".join(_OPTIONS[kind] for kind in kinds)
                message = f"{name} is accepted only by a server that was started with {options}."
                raise ApiError(ErrorCode.UNSUPPORTED_PARAMETER, message, param=name)

    def require_trust(self, chat_template: str | None) -> None:
        """Raises ApiError for a chat template of a request's own, if such aren't trusted."""
        if chat_template is not None and not self.trust_request_chat_template:
            message = "chat_template is accepted only by a server that was started with --trust-request-chat-template."
            raise ApiError(ErrorCode.UNSUPPORTED_PARAMETER, message, param="chat_template")


def _require_at_most(most: int | None, value: int | None, name: str) -> None:
    if most is not None and value is not None and value > most:
        message = f"{name} is {value}, but this server's limit is {most}."
        raise ApiError(ErrorCode.INTEGER_ABOVE_MAX_VALUE, message, param=name)


def _require_candidates(body: Body) -> None:
    n, best_of = or_none(body.n) or 1, or_none(body.best_of)
    if best_of is not None and n > best_of:
        message = f"n is {n}, but may be at most best_of, which is {best_of}."
        raise ApiError(ErrorCode.INVALID_VALUE, message, param="n")


def _require_room(body: Body) -> None:
    """Raises ApiError where the least tokens are more than the most."""
    least = or_none(body.min_tokens) or 0
    for name in TOKEN_LIMITS:
        most = value_of(body, name)
        if most is not None and least > most:
            message = f"min_tokens is {least}, but may be at most {name}, which is {most}."
            raise ApiError(ErrorCode.INVALID_VALUE, message, param="min_tokens")
    if least and (or_none(body.best_of) or 1) > 1:
        message = "min_tokens can't be combined with best_of above 1: a beam search has no least length."
        raise ApiError(ErrorCode.INVALID_VALUE, message, param="min_tokens")
