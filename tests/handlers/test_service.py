"""The service's own endpoints."""

import asyncio
import threading

from specvino.handlers.service import Service


class Document:
    """Notes in which thread it is made."""

    def of(self, version):
        self.thread = threading.get_ident()
        return {"openapi": version}


def test_the_document_is_made_beside_the_event_loop() -> None:
    document = Document()
    answer = asyncio.run(Service(None, document).get_openapi(None, None, None))
    assert answer.body == {"openapi": "3.2"}
    assert document.thread != threading.get_ident()
