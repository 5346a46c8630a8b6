"""From the options of a server to the ASGI app and all that it owns."""

from specvino.server.assembly.options import OptionError, ServeOptions
from specvino.server.assembly.served_app import ServedApp
from specvino.server.assembly.serving import REFUSALS, served_app

__all__ = ["REFUSALS", "OptionError", "ServeOptions", "ServedApp", "served_app"]
