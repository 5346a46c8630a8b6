"""The service's own endpoints."""

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

from specvino.handlers.service import Service


class Document:
    """Notes in which thread it is made."""

    def of(self, version):
        self.thread = threading.get_ident()
        return {"openapi": version or "its own", "servers": [], "paths": {}}


def test_the_document_is_made_beside_the_event_loop() -> None:
    document: Any = Document()
    nobody: Any = None
    context: Any = SimpleNamespace(path="/openapi.json")
    answer = asyncio.run(Service(nobody, document).get_openapi(context, None, None))
    assert answer.body["openapi"] == "its own"
    assert document.thread != threading.get_ident()
