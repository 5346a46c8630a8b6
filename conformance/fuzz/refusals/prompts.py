"""Refusals of prompts: too long, empty or missing."""

from specvino.conformance.fuzz.prompts import Prompt
from specvino.conformance.fuzz.refusals.refused import Refused
from specvino.conformance.fuzz.server import Server
from specvino.document.loading import group

# A chat template spends at least these on a turn beside its text: something before it and something after it.
TURN_TOKENS = 2

# And at most these, with a system prompt of its own as one more turn.
MOST_TURN_TOKENS = 64

# From this many tokens on, our server refuses a text if the model comes from a GGUF file (decision 017).
MOST_OF_TOKENIZER = 8192

# What a chat template reads beside the messages, or is asked to do with them.
_TEMPLATE_READS = (
    "chat_template",
    "chat_template_kwargs",
    "continue_final_message",
    "tools",
    "functions",
    "instructions",
)

# The types of the items of which a prompt can be made.
READABLE = ("message", "function_call", "function_call_output", "reasoning")


def context_length_exceeded(refused: Refused, server: Server) -> bool:
    context_length = server.facts.get("context_length")
    if context_length is None:
        return False
    limits = (refused.value(name) for name in group("token_limits").paths)
    room = context_length - next((limit for limit in limits if limit is not None), 1)
    # How many tokens an image takes is up to the model.
    return room < 0 or any(prompt.images or _least_tokens(prompt, server) > room for prompt in refused.prompts)


def invalid_prompt(refused: Refused, server: Server) -> bool:
    """Returns whether the message gives a reason that is known here, and a prompt to which it applies.

    Another reason is a finding until somebody has looked at it.
    """
    message = refused.message
    if "prompt is empty" in message:
        template = refused.value("chat_template")  # which may write nothing
        return bool(template) or any(_is_empty(prompt, server) for prompt in refused.prompts)
    if "no item that the model can read" in message:
        return not any(item.get("type", "message") in READABLE for item in refused.value("input") or ())
    if "this model's tokenizer takes less than" in message:
        return any(_most_tokens(prompt) >= MOST_OF_TOKENIZER for prompt in refused.prompts)
    if "its token ids are" in message:
        return any(_is_unknown(id, server) for prompt in refused.prompts for id in prompt.ids)
    if "sees images, and takes no token ids" in message:
        return server.facts.get("vision", True) and any(prompt.ids for prompt in refused.prompts)
    if "sees images: it can't repeat a prompt" in message:
        repeats = bool(refused.value("echo")) and (
            refused.value("logprobs") is not None or refused.value("max_tokens") == 0
        )
        return server.facts.get("vision", True) and repeats
    if "chat template refuses" in message:
        return _is_odd(refused)
    # The scripted engine takes a first line of this kind for directives.
    return "script" in message and any(prompt.last_user.startswith("script:") for prompt in refused.prompts)


def _is_unknown(id: int, server: Server) -> bool:
    last = server.facts.get("last_token_id")
    return last is not None and not 0 <= id <= last


def _is_odd(refused: Refused) -> bool:
    """Returns whether a template may reject a conversation: it has more than one question."""
    return any(prompt.turns > 1 or not prompt.last_user for prompt in refused.prompts) or any(
        refused.value(name) for name in _TEMPLATE_READS
    )


def _least_tokens(prompt: Prompt, server: Server) -> int:
    """Returns a lower bound of a prompt's tokens, but for tools and calls, which templates write in ways of their own.

    Templates trim texts, so white space at their ends doesn't count.
    """
    text = "\n".join(text.strip() for text in prompt.texts)
    return max(TURN_TOKENS * prompt.turns, prompt.turns + (server.count_tokens(text) or 0), len(prompt.ids))


def _most_tokens(prompt: Prompt) -> int:
    """Returns an upper bound of a prompt's tokens, but for tools, which templates write in ways of their own."""
    return sum(len(text.encode("utf-8", "replace")) for text in prompt.texts) + MOST_TURN_TOKENS * (1 + prompt.turns)


def _is_empty(prompt: Prompt, server: Server) -> bool:
    if prompt.turns or prompt.ids:
        return False
    return all(not text or server.count_tokens(text) == 0 for text in prompt.texts)
