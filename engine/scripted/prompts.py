"""Prompts of the scripted engine: their tokens, truncation, and the text of the answer."""

from dataclasses import replace
from itertools import takewhile

from specvino.engine.request import (
    Conversation,
    GenerationRequest,
    Prompt,
    TextPrompt,
    TokenPrompt,
)
from specvino.engine.scripted.constraints import written_parameters
from specvino.engine.scripted.mock_tokenizer import word_ids, words

# As long as those of the models that agents are made for: the first prompt of Qwen Code 0.24 has 11,503 tokens.
CONTEXT_LENGTH = 131_072

_MESSAGE_TOKENS = 4


def count_tokens(prompt: Prompt) -> int:
    """Returns the number of a prompt's tokens in this engine."""
    return len(prompt_ids(prompt))


def prompt_ids(prompt: Prompt) -> list[int]:
    """Returns the tokens of a prompt; a message's tokens in addition to its words are 0."""
    match prompt:
        case TokenPrompt(ids) | Conversation(rendered=tuple(ids)):
            return list(ids)
        case TextPrompt(text) | Conversation(rendered=str(text)):
            return word_ids(text)
        case Conversation():
            return [id for text in prompt_texts(prompt) for id in [0] * _MESSAGE_TOKENS + word_ids(text)]


def prompt_texts(conversation: Conversation) -> list[str]:
    """Returns the texts of a conversation's messages and tools."""
    tools = [f"{tool.name} {tool.description or ''} {written_parameters(tool)}" for tool in conversation.tools]
    return [message.content for message in conversation.messages] + tools


def with_cut_prompts(request: GenerationRequest, context_length: int) -> GenerationRequest:
    """Returns the request with truncated prompts."""
    return replace(request, prompts=tuple(_cut(prompt, request, context_length) for prompt in request.prompts))


def _cut(prompt: Prompt, request: GenerationRequest, context_length: int) -> Prompt:
    """Returns the truncated prompt, a conversation as its tokens."""
    if request.truncation is None:
        return prompt
    limit = request.sampling.max_tokens
    tokens = request.truncation.tokens
    if tokens is None:
        tokens = context_length - (1 if limit is None else limit)
    ids = prompt_ids(prompt)
    if not 0 < tokens < min(len(ids), context_length + 1):
        return prompt
    kept = slice(tokens) if request.truncation.side == "right" else slice(-tokens, None)
    match prompt:
        case TextPrompt(text):
            return TextPrompt("".join(words(text)[kept]))
        case TokenPrompt():
            return TokenPrompt(tuple(ids[kept]))
        case Conversation():
            return replace(prompt, rendered=tuple(ids[kept]))


def to_be_answered(prompt: Prompt) -> str:
    """Returns the text that the engine repeats as its answer."""
    match prompt:
        case TextPrompt(text) | Conversation(rendered=str(text)):
            return text
        case TokenPrompt(ids) | Conversation(rendered=tuple(ids)):
            return " ".join(map(str, ids))
        case Conversation():
            results = list(takewhile(lambda message: message.role == "tool", reversed(prompt.messages)))
            if results:
                return "\n".join(message.content for message in reversed(results))
            return next((message.content for message in reversed(prompt.messages) if message.role == "user"), "")
