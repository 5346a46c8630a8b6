"""Structured outputs: the fields of a request that constrain its output -> a constraint for the engine."""

from specvino.handlers.structured_outputs.output import StructuredOutput, of_tag, refusals
from specvino.handlers.structured_outputs.selection import structured_output

__all__ = ["StructuredOutput", "of_tag", "refusals", "structured_output"]
