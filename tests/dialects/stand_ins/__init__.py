"""Stand-ins for other systems: the reference server's model and endpoints, and what each system makes of them.

Each module has the parts in which one system differs. They accept what the system's document accepts; how they answer
is derived from the system's sources, as `answers/` is, and never from its document.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from threading import Thread

import uvicorn
from reference_server.server import ReferenceServer

KEY = "sk-stand-in"
MODEL = "stand-in"


def stand_in(system: str) -> ReferenceServer:
    """An ASGI app that answers as the system does."""
    parts = import_module(f"{__name__}.{system.replace('-', '_')}").PARTS
    return ReferenceServer(*parts, key=KEY, model=MODEL)


@contextmanager
def serving(system: str) -> Iterator[str]:
    """The base URL of a stand-in that listens in a thread."""
    server = uvicorn.Server(
        uvicorn.Config(stand_in(system), port=0, interface="asgi3", log_level="critical", lifespan="off")
    )
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    (listening,) = server.servers[0].sockets
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    server.should_exit = True
    thread.join()
