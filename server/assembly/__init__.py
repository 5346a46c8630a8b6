"""Builds a server's ASGI app, with its engines, store and telemetry, from the options."""

from specvino.server.assembly.from_options import REFUSALS, make_app
from specvino.server.assembly.options import OptionError, ServeOptions
from specvino.server.assembly.served_app import ServedApp

__all__ = ["REFUSALS", "OptionError", "ServeOptions", "ServedApp", "make_app"]
