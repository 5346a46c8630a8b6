"""MODEL, as given on the command line: from a name, a folder or a file to a model that is at hand."""

from specvino.engine.models.lookup import resolve
from specvino.engine.models.source import ModelSource

__all__ = ["ModelSource", "resolve"]
