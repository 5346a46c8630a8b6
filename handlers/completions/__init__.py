"""POST /completions."""

from specvino.handlers.completions.handler import Completions

__all__ = ["Completions"]
