"""Models: resolves MODEL on the command line (a name, a folder, a file or a hub id) to a local model."""

from specvino.engine.models.lookup import resolve, with_adapter
from specvino.engine.models.source import ModelSource

__all__ = ["ModelSource", "resolve", "with_adapter"]
