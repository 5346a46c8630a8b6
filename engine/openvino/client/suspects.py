"""Requests that were lost with a process, again and again: one of them may be the cause.

A lost request may be sent again, since another one may have been at fault. If it is lost again each time, it is
suspected: after the second loss in a row the next 4 attempts are refused, after the third the next 16, and so on. So a
request that crashes a process is tried ever more rarely, and one that was lost with it by chance is tried again, and no
suspect once it is answered. Attempts are counted, not seconds: nothing changes while nobody asks.
"""

import secrets
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from hashlib import blake2b

import msgspec

from specvino.engine.errors import EngineRestarted, EngineUnavailable
from specvino.engine.processes.losses import log_lost
from specvino.engine.request import Conversation, GenerationRequest, Image, Prompt, Sampling, TextPrompt, TokenPrompt

# The most suspects that are remembered: the latest ones.
_MOST = 256

# Attempts are refused this many times more often after each further loss, up to the last number.
_FACTOR = 4
_MOST_REFUSALS = 1024

_RETRY_AFTER = 5  # seconds

# The bytes of an image that count for its fingerprint, beside its size.
_OF_IMAGE = 2**16

# The prompts of a request that its line in the log describes.
_MOST_SHOWN = 4

# The parts of a request that the line names if it has them.
_OPTIONS = ("echo", "logprobs", "top_logprobs", "prompt_logprobs", "truncation", "must_call", "thinking_budget")


@dataclass(slots=True)
class _Suspect:
    losses: int = 0  # in a row
    refusals: int = 0  # that are left


class Suspects:
    """The lost requests of an engine, by keyed hashes of their contents; neither hash nor key leaves the process."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._suspects: OrderedDict[bytes, _Suspect] = OrderedDict()

    @contextmanager
    def watched(self, request: GenerationRequest) -> Iterator[None]:
        """Surrounds an attempt to answer a request. Raises EngineUnavailable if it is refused."""
        fingerprint = self._fingerprint(request) if self._suspects else None
        suspect = self._suspects.get(fingerprint) if fingerprint else None
        if suspect and suspect.refusals:
            suspect.refusals -= 1
            raise EngineUnavailable(
                f"The engine crashed {suspect.losses} times while it processed this request, which is blocked for now.",
                retry_after=_RETRY_AFTER,
            )
        losses = suspect.losses if suspect else 0
        try:
            yield
        except EngineRestarted as error:
            suspect = self._lost(fingerprint or self._fingerprint(request), losses)
            if not error.logged:
                times = f", {suspect.losses} times in a row" if suspect.losses > 1 else ""
                log_lost("engine's", kind(request) + times)
            raise
        if fingerprint:
            self._suspects.pop(fingerprint, None)

    def _lost(self, fingerprint: bytes, before: int) -> _Suspect:
        """Counts a loss. `before` is how many there were when the request began: if there are more now, an equal
        request was lost meanwhile, most likely with the same process."""
        suspect = self._suspects.setdefault(fingerprint, _Suspect())
        if suspect.losses <= before:  # less, if an equal request succeeded meanwhile
            suspect.losses += 1
            if suspect.losses > 1:
                suspect.refusals = min(_FACTOR ** (suspect.losses - 1), _MOST_REFUSALS)
        self._suspects.move_to_end(fingerprint)
        if len(self._suspects) > _MOST:
            self._suspects.popitem(last=False)
        return suspect

    def _fingerprint(self, request: GenerationRequest) -> bytes:
        content = replace(request, prompts=tuple(map(_short, request.prompts)), owner="", priority=0)
        # Not MessagePack, which has no integers of more than 64 bits.
        encoded = msgspec.json.encode(content, enc_hook=dict)
        return blake2b(encoded, key=self._key, digest_size=16).digest()


def _short(prompt: Prompt) -> Prompt:
    """Returns a prompt with the beginnings of its images only."""
    if not isinstance(prompt, Conversation):
        return prompt
    messages = (
        replace(message, images=tuple(replace(placed, image=_begun(placed.image)) for placed in message.images))
        for message in prompt.messages
    )
    return replace(prompt, messages=tuple(messages))


def _begun(image: Image) -> Image:
    return replace(image, rgb=image.rgb[:_OF_IMAGE])


def kind(request: GenerationRequest) -> str:
    """Returns what kind of request it is, in numbers and names of settings."""
    default = Sampling(max_tokens=None)
    changed = (
        field.name
        for field in fields(Sampling)
        if getattr(request.sampling, field.name) != getattr(default, field.name)
    )
    options = (name for name in _OPTIONS if getattr(request, name))
    constraint = [type(request.constraint).__name__] if request.constraint else []
    return ", ".join(
        [*map(_kind_of_prompt, request.prompts[:_MOST_SHOWN]), f"n {request.n}", *constraint, *options, *changed]
    )


def _kind_of_prompt(prompt: Prompt) -> str:
    match prompt:
        case Conversation():
            images = sum(len(message.images) for message in prompt.messages)
            return f"{len(prompt.messages)} messages with {images} images and {len(prompt.tools)} tools"
        case TextPrompt():
            return f"a text of {len(prompt.text)} characters"
        case TokenPrompt():
            return f"{len(prompt.ids)} token ids"
