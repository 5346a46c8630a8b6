"""Structured outputs: what a request says of the form of its text -> a constraint for the engine."""

from specvino.handlers.structured_outputs.constraint_fields import constraint_fields
from specvino.handlers.structured_outputs.output import StructuredOutput, of_tag, refusals
from specvino.handlers.structured_outputs.selection import FormatFields, structured_output

__all__ = ["FormatFields", "StructuredOutput", "constraint_fields", "of_tag", "refusals", "structured_output"]
