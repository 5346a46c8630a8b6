"""Refusals of single values and of pairs that exclude each other."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from specvino.conformance.fuzz.refusals.prompts import TOKEN_LIMITS, unknown_token
from specvino.conformance.fuzz.refusals.refused import Refused
from specvino.conformance.fuzz.refusals.structured_outputs import structured_output_fields
from specvino.conformance.fuzz.refusals.tools import forces
from specvino.conformance.fuzz.server import Server

# The penalties, with the values that are no penalty.
PENALTIES: Mapping[str, float] = {"frequency_penalty": 0, "presence_penalty": 0, "repetition_penalty": 1}

# Settings of speculative decoding.
DRAFTING = ("num_assistant_tokens", "assistant_confidence_threshold", "max_ngram_size")

# Lists of tokens of the model.
TOKEN_IDS = ("logprob_token_ids", "allowed_token_ids", "bad_words_token_ids")

# Variables of chat templates that requests can't set.
RESERVED = ("messages", "tools", "bos_token", "eos_token")


def integer_above_max_value(refused: Refused, server: Server) -> bool:
    stated = re.search(r"limit is (\d+)\.", refused.message)
    param = refused.param or ""
    value = refused.value(param)
    if stated is None or param not in (*TOKEN_LIMITS, "best_of") or value is None:
        return False
    what = "most tokens" if param in TOKEN_LIMITS else "most candidates"
    return bool(value > int(stated[1])) and server.stands_by(what, int(stated[1]))


def invalid_value(refused: Refused, server: Server) -> bool:
    if refused.param in TOKEN_IDS:
        ids = refused.value(refused.param) or ()
        return any(unknown_token(refused, server, id) for id in ids)
    return refused.param in conflicts(refused.body or {})


def conflicts(body: Mapping[str, Any]) -> set[str]:
    """Returns the fields that can't be as they are together with others."""
    return set(_conflicts(body))


def _conflicts(body: Mapping[str, Any]) -> Iterator[str]:
    n, best_of = body.get("n") or 1, body.get("best_of")
    if best_of is not None and n > best_of:
        yield "n"
    if (best_of or 1) > 1 and any(body.get(name) not in (None, none) for name, none in PENALTIES.items()):
        yield "best_of"
    least = body.get("min_tokens") or 0
    if least and ((best_of or 1) > 1 or any(least > (body.get(name) or least) for name in TOKEN_LIMITS)):
        yield "min_tokens"
    structured = list(structured_output_fields(body))
    if structured or forces(body):
        yield from ("best_of",) if (best_of or 1) > 1 else ()
        yield from ("ignore_eos",) if body.get("ignore_eos") else ()
        yield from ("min_tokens",) if least else ()
    if len(structured) > 1:
        yield from (*structured, "text.format")
    if body.get("top_logprobs") and body.get("logprobs") is not True:
        yield "top_logprobs"
    if body.get("continue_final_message") and body.get("add_generation_prompt"):
        yield "continue_final_message"
    if body.get("functions") and body.get("tools"):
        yield "functions"
    yield from (f"chat_template_kwargs.{name}" for name in RESERVED if name in (body.get("chat_template_kwargs") or {}))


def invalid_type(refused: Refused, server: Server) -> bool:
    param = "chat_template_kwargs.add_generation_prompt"
    return refused.param == param and not isinstance(refused.value(param), bool | None)


def unsupported_parameter(refused: Refused, server: Server) -> bool:
    """Tells whether the request sets something for which the server wasn't started; so it says the same of all
    requests."""
    param = refused.param or ""
    if param == "background":
        return refused.value(param) is True and server.stands_by("stores", 0)
    if param == "best_of":
        return (refused.value(param) or 1) > 1 and server.stands_by("drafts", 1)
    if param == "min_tokens":
        return bool(refused.value(param)) and server.stands_by("drafts", 1)
    if param == "chat_template":
        return refused.value(param) is not None and server.stands_by("trusts templates", 0)
    if param == "num_assistant_tokens":  # both ways of drafting take it
        return refused.value(param) is not None and server.stands_by("drafts", 0)
    return param in DRAFTING and refused.value(param) is not None
