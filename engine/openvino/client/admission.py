"""The admission of requests: tokenizes prompts, checks that they fit the context, and resolves the constraints of
answers.
"""

import itertools
from array import array
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from specvino.engine.errors import PromptError
from specvino.engine.models import ModelSource
from specvino.engine.openvino.client.constraints import ResolvedConstraint, resolve_constraint
from specvino.engine.openvino.client.grammars import GrammarClient
from specvino.engine.openvino.client.images import PromptImages, images_in
from specvino.engine.openvino.client.preprocess import PreprocessClient
from specvino.engine.openvino.messages.preprocess import Cut
from specvino.engine.openvino.messages.token_ids import TOKEN_ID_BYTES
from specvino.engine.openvino.messages.worker import CACHE_BLOCK, VisionPrompt
from specvino.engine.output_parsers.selection import SelectedParsers
from specvino.engine.prompt_checks import numbered, room
from specvino.engine.request import (
    Conversation,
    GenerationRequest,
    Prompt,
    Sampling,
    TextPrompt,
    TokenPrompt,
    Truncation,
)
from specvino.engine.segments import Hidden


class AdmittedPrompt(NamedTuple):
    """A prompt that fits, and how many tokens may follow it in each of its choices. With `prompt_images` it has more
    tokens than `token_ids`, and the worker decides whether it fits. With `thinking` it has started the reasoning, and
    `closing` are the tokens that end the reasoning if that has a budget. `bad_word_runs` are the token sequences of the
    request's bad words. `hidden` are the parts of a conversation that the chat template doesn't render.
    """

    prompt: Prompt
    token_ids: bytes
    max_new_tokens: int
    vision_prompt: VisionPrompt | None
    prompt_images: PromptImages | None
    thinking: bool
    closing: tuple[int, ...] = ()
    bad_word_runs: tuple[tuple[int, ...], ...] = ()
    hidden: tuple[Hidden, ...] = ()

    def ids(self) -> tuple[int, ...] | None:
        """Returns the prompt's tokens; None where images are among them."""
        return None if self.prompt_images else tuple(array("q", self.token_ids))


class Admission:
    """Checks requests before a worker gets them. `parsers` are set when the model is loaded."""

    def __init__(self, source: ModelSource, preprocess: PreprocessClient, grammars: GrammarClient) -> None:
        self.context_length = source.context_length
        self.cache_tokens: int | None = None  # that fit into a cache of fixed size
        self.parsers = SelectedParsers()
        self._source = source
        self._preprocess = preprocess
        self._grammars = grammars
        self._keys = itertools.count()  # of images

    def bound(self, cache_tokens: int) -> None:
        """Sets how many tokens fit into the cache, the limit of a prompt."""
        self.cache_tokens = cache_tokens
        self.context_length = min(self._source.context_length, cache_tokens)

    async def admit(self, request: GenerationRequest) -> tuple[list[AdmittedPrompt], list[ResolvedConstraint]]:
        """Returns the request's prompts, and the constraint of the answer to each.

        Raises PromptError, ConstraintError and EngineUnavailable.
        """
        if self._source.vision and (request.sampling.max_tokens == 0 or (request.echo and request.logprobs)):
            # GenAI 2026.4.1: the pipeline would crash (decision 021).
            raise PromptError("Vision-language models don't support echo with logprobs or with max_tokens 0.")
        closing = await self._closing(request)
        prompts = []
        for index, prompt in enumerate(request.prompts):  # one at a time: other requests' prompts run in between
            with numbered("Prompt", index, len(request.prompts)):
                admitted = await self._admit(prompt, request.sampling.max_tokens, request.truncation)
                prompts.append(self._fitted(admitted, request.sampling)._replace(closing=closing))
        runs = await self._bad_word_runs(request.sampling.bad_words)
        prompts = [prompt._replace(bad_word_runs=runs) for prompt in prompts]
        return prompts, [await self._resolved(request, prompt) for prompt in prompts]

    async def _resolved(self, request: GenerationRequest, prompt: AdmittedPrompt) -> ResolvedConstraint:
        resolve = partial(resolve_constraint, self._grammars, request, prompt.prompt)
        resolved = await resolve(self.parsers, thinking=prompt.thinking)
        if not prompt.closing:
            return resolved
        answer = await resolve(replace(self.parsers, reasoning=None), thinking=False)
        return replace(resolved, behind_reasoning=answer.lowered)

    async def _closing(self, request: GenerationRequest) -> tuple[int, ...]:
        """Returns the tokens that end the reasoning when its budget is spent."""
        if request.thinking_budget is None:
            return ()
        text = self.parsers.closing(request.thinking_budget.message)
        assert text is not None
        return tuple(array("q", await self._preprocess.tokenize(text, add_special_tokens=False)))

    async def _bad_word_runs(self, words: Sequence[str]) -> tuple[tuple[int, ...], ...]:
        """Returns the tokens of each word, at the beginning of a text and after a space."""
        runs: dict[tuple[int, ...], None] = {}
        for index, word in enumerate(words):
            bare = word.lstrip()
            for text in (bare, f" {bare}") if bare else (word,):
                with numbered("Bad word", index, len(words)):
                    runs[tuple(array("q", await self._preprocess.tokenize(text, add_special_tokens=False)))] = None
        return tuple(run for run in runs if run)

    async def _admit(self, prompt: Prompt, max_tokens: int | None, truncation: Truncation | None) -> AdmittedPrompt:
        """Returns a prompt that fits. Raises PromptError if the model can't process it, or if it leaves no room for
        `max_tokens`.
        """
        yields = max_tokens is None
        cut = self._cut(truncation, max_tokens) if truncation else None
        token_ids, text, ending, hidden = await self._preprocess.preprocess(prompt, cut)
        if cut is not None and isinstance(prompt, TextPrompt) and len(token_ids) == cut.tokens * TOKEN_ID_BYTES:
            prompt = TokenPrompt(tuple(array("q", token_ids)))  # an echo repeats the truncated prompt
        images = images_in(prompt) if isinstance(prompt, Conversation) else []
        # An image has at least one token.
        left = room(len(token_ids) // TOKEN_ID_BYTES + len(images), max_tokens, self.context_length)
        if max_tokens is None:  # a default limit: it is reduced to fit the context
            max_tokens = min(left, int(self._source.defaults.get("max_tokens", left)))
        prompt_images = PromptImages(next(self._keys), images) if images else None
        vision_prompt = None
        if text is not None:
            vision_prompt = VisionPrompt(text, self.context_length, yields, prompt_images and prompt_images.key)
        thinking = self.parsers.thinking(ending)
        return AdmittedPrompt(prompt, token_ids, max_tokens, vision_prompt, prompt_images, thinking, hidden=hidden)

    def _cut(self, truncation: Truncation, max_tokens: int | None) -> Cut | None:
        """Returns how a prompt is truncated, None if it isn't. If more tokens would be kept than fit the context, or no
        room would be left for the answer, a prompt that is too long is rejected, as without truncation.
        """
        tokens = truncation.tokens
        if tokens is None:
            tokens = self.context_length - (1 if max_tokens is None else max_tokens)
        if self._source.vision or not 0 < tokens <= self.context_length:
            return None
        return Cut(tokens, first=truncation.side == "right")

    def _fitted(self, admitted: AdmittedPrompt, sampling: Sampling) -> AdmittedPrompt:
        """Returns a prompt whose beams fit into the cache together. Beams that don't fit would end all running requests
        in GenAI 2026.4.1 (decision 057). Raises PromptError.
        """
        if sampling.best_of == 1 or self.cache_tokens is None:
            return admitted
        left = self.cache_tokens - len(admitted.token_ids) // TOKEN_ID_BYTES
        most = left // sampling.best_of - CACHE_BLOCK
        if admitted.max_new_tokens <= most:
            return admitted
        if sampling.max_tokens is not None or most < 1:
            raise PromptError(
                f"The KV cache fits at most {max(most, 0)} new tokens per beam for {sampling.best_of} beams after this "
                "prompt."
            )
        return admitted._replace(max_new_tokens=most)
