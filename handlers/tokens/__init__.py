"""POST /tokenize and /detokenize: texts, conversations and mixtures become tokens, and tokens texts."""

from specvino.handlers.tokens.handler import Tokens

__all__ = ["Tokens"]
