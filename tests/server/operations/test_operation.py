"""What an operation tells the engine of the exchange."""

from collections.abc import AsyncGenerator

from support.app import Client

from specvino.engine.protocol import CLIENT
from specvino.engine.request import GenerationRequest
from specvino.engine.scripted import ScriptedEngine
from specvino.engine.segments import Segment


class Asked(ScriptedEngine):
    """Notes who asks."""

    def __init__(self) -> None:
        super().__init__()
        self.clients: list[str] = []

    def generate(self, request: GenerationRequest) -> AsyncGenerator[Segment]:
        self.clients.append(CLIENT.get())
        return super().generate(request)


def test_the_engine_knows_clients_by_their_addresses() -> None:
    engine = Asked()
    assert Client(engine).chat().status_code == 200
    assert engine.clients == ["127.0.0.1"]
