"""The command `specvino` where the public host HOST is a server of this machine: no test asks another one.

That alone is other than in a server that users start: which address the name has, and that this address is allowed.
"""

import ipaddress
import sys
from pathlib import Path

from specvino.cli.main import app
from specvino.handlers.media.fetch import Address, Fetcher

HOST = "images.example"
COMMAND = [sys.executable, "-m", "support.public_host", "serve"]
ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).parents[1])}

_HERE = ipaddress.ip_address("127.0.0.1")


async def _look_up(host: str, port: int) -> list[Address]:
    assert host == HOST, host
    return [_HERE]


if __name__ == "__main__":
    defaults = Fetcher.__init__.__kwdefaults__
    assert defaults is not None
    defaults |= {"look_up": _look_up, "allows": lambda address: address == _HERE}
    app()
