"""Verifies refusals by the codes of prompts: too long, empty, too large for the memory, or rejected by the template."""

from specvino.conformance.fuzz.prompts import Prompt
from specvino.conformance.fuzz.refusals.refused_request import RefusedRequest
from specvino.conformance.fuzz.server import Server
from specvino.document.loading import group

# The smallest number of tokens that a chat template adds to a turn.
TURN_TOKENS = 2

# The largest number; a default system prompt counts as one more turn.
MOST_TURN_TOKENS = 64

# Fields that a chat template reads in addition to the messages.
_TEMPLATE_READS = (
    "chat_template",
    "chat_template_kwargs",
    "continue_final_message",
    "tools",
    "functions",
    "instructions",
)

# Endpoints whose input is a list of items, or one text.
_WITH_ITEMS = ("responses", "compact", "input_tokens")


def context_length_exceeded(refused: RefusedRequest, server: Server) -> bool:
    context_length = server.facts.get("context_length")
    if context_length is None:
        return False
    limits = (refused.value(name) for name in group("token_limits").paths)
    room = context_length - next((limit for limit in limits if limit is not None), 1)
    # The number of an image's tokens depends on the model.
    return room < 0 or any(prompt.images or _least_tokens(prompt, server) > room for prompt in refused.prompts)


def insufficient_memory(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the request needs the scores of the whole vocabulary, or may have a prompt that is too long for a
    draft model."""
    drafting, drafted = server.facts.get("drafting"), server.facts.get("drafted_tokens")
    return (
        any(group("full_logits").matches(refused.value))
        or (drafting is not None and bool(refused.value("min_tokens")))
        or (drafted is not None and any(_most_tokens(prompt) > drafted for prompt in refused.prompts))
    )


def empty_prompt(refused: RefusedRequest, server: Server) -> bool:
    if refused.value("chat_template"):  # which may render nothing
        return True
    items = refused.value("input")
    if refused.endpoint in _WITH_ITEMS and not isinstance(items, str):
        return all(item.get("type") == "additional_tools" for item in items or ())
    return any(_is_empty(prompt, server) for prompt in refused.prompts)


def text_too_long(refused: RefusedRequest, server: Server) -> bool:
    limits = filter(None, map(server.facts.get, ("tokenizer_tokens", "tokenized_characters")))
    least = min(limits, default=None)
    return least is not None and any(_most_tokens(prompt) >= least for prompt in refused.prompts)


def chat_template_error(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether a template may reject the conversation: it has several turns, no user text, or template
    settings."""
    return any(prompt.turns > 1 or not prompt.last_user for prompt in refused.prompts) or any(
        refused.value(name) for name in _TEMPLATE_READS
    )


def invalid_prompt(refused: RefusedRequest, server: Server) -> bool:
    """Returns whether the last user message begins with a script of the scripted engine, which may refuse it. Other
    reasons can't be verified."""
    return any(prompt.last_user.startswith("script:") for prompt in refused.prompts)


def _least_tokens(prompt: Prompt, server: Server) -> int:
    """Returns a lower bound of a prompt's tokens, not counting tools and calls, which templates render differently.
    White space at the ends of texts isn't counted: templates trim it."""
    text = "\n".join(text.strip() for text in prompt.texts)
    return max(TURN_TOKENS * prompt.turns, prompt.turns + (server.count_tokens(text) or 0), len(prompt.ids))


def _most_tokens(prompt: Prompt) -> int:
    """Returns an upper bound of a prompt's tokens, not counting tools, which templates render differently."""
    return sum(len(text.encode("utf-8", "replace")) for text in prompt.texts) + MOST_TURN_TOKENS * (1 + prompt.turns)


def _is_empty(prompt: Prompt, server: Server) -> bool:
    if prompt.turns or prompt.ids:
        return False
    return all(not text or server.count_tokens(text) == 0 for text in prompt.texts)
