"""`specvino serve` that tells on SIGUSR1 how many asyncio tasks it has: a line in the file that SOAK_TASKS names.

python -m soak.served ARGUMENTS
"""

import asyncio
import gc
import os
import signal
import sys
from pathlib import Path

from specvino.cli.main import app


def _tell(*_: object) -> None:
    unfinished = sum(isinstance(entry, asyncio.Task) and not entry.done() for entry in gc.get_objects())
    with Path(os.environ["SOAK_TASKS"]).open("a", encoding="utf-8") as file:
        file.write(f"{unfinished}\n")


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, _tell)
    sys.argv.insert(1, "serve")
    app(prog_name="specvino")
