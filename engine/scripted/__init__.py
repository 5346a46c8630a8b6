"""An engine without a model: an offline mock of the API, and faults on demand for tests."""

from specvino.engine.scripted.engine import ScriptedEngine
from specvino.engine.scripted.prompts import CONTEXT_LENGTH, count_tokens

__all__ = ["CONTEXT_LENGTH", "ScriptedEngine", "count_tokens"]
