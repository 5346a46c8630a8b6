"""Emulation of another system (`--dialect`): paths, requests, responses, streams and errors, all from its document."""

from specvino.server.dialect.system import System, speaker

__all__ = ["System", "speaker"]
