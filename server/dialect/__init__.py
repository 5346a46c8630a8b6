"""Speaking as another system: its paths, requests, answers, streams and errors, all from its document (`--dialect`)."""

from specvino.server.dialect.system import System, speaker

__all__ = ["System", "speaker"]
