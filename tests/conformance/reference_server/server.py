"""The correct server: everything that the document says, with a model that has words but no sense.

The model says the same again at temperature 0 and with the same seed. It calls a function when it must, or when the
user names the weather: once for each of `generation.CITIES` that is named. It thinks when `reasoning_effort` or
`enable_thinking` ask for it. What waits in the background is done when it is looked at a second time.
"""

from typing import TypeVar

from reference_server.chat import Chat
from reference_server.completions import Completions
from reference_server.conversations import Conversations
from reference_server.generation import Generation
from reference_server.http import Http, Message, Receive, Send
from reference_server.item_events import ItemEvents
from reference_server.items import Items
from reference_server.messages import Messages
from reference_server.models import Models
from reference_server.ollama import Ollama
from reference_server.part import Part
from reference_server.requests import Requests
from reference_server.responses import Responses
from reference_server.sockets import Sockets
from reference_server.stored import Stored
from reference_server.tokenize import Tokenize
from reference_server.tools import Tools

P = TypeVar("P", bound=Part)


class ReferenceServer:
    """An ASGI app. `parts` replace those that they are subclasses of, as a mutant does. `key` is what clients must
    send, None where they needn't, `model` the name of the one model; `pace` is how many seconds a token takes: above
    0, requests for some wait for each other. If it is infinite, a token of a stream or of a long answer takes until the
    next request."""

    def __init__(self, *parts: type[Part], key: str | None = None, model: str = "reference", pace: float = 0.0) -> None:
        self.key = key
        self.model = model
        self.pace = pace

        def part(kind: type[P]) -> P:
            return next((part for part in parts if issubclass(part, kind)), kind)(self)

        self.http = part(Http)
        self.models = part(Models)
        self.requests = part(Requests)
        self.tools = part(Tools)
        self.generation = part(Generation)
        self.chat = part(Chat)
        self.completions = part(Completions)
        self.tokenize = part(Tokenize)
        self.items = part(Items)
        self.item_events = part(ItemEvents)
        self.responses = part(Responses)
        self.stored = part(Stored)
        self.conversations = part(Conversations)
        self.messages = part(Messages)
        self.ollama = part(Ollama)
        self.sockets = part(Sockets)
        kept = (self.stored, self.conversations)
        api = (self.chat, self.completions, self.responses, *kept, self.messages, self.ollama)
        self.routes = {
            route: getattr(part, route.does) for part in (self.models, self.tokenize, *api) for route in part.routes
        }

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self.http.serve(self.http.call(scope, receive, send))
        elif scope["type"] == "websocket":
            await self.sockets.serve(scope, receive, send)

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return
