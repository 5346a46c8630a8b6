"""A system of a few classes, and its document."""

from copy import deepcopy
from pathlib import Path
from typing import Any

from support.python_sources import package

PROTOCOL = """
from pydantic import BaseModel, Field

class Request(BaseModel):
    model: str
    seed: int | None = Field(None, ge=0)
    stream: bool = False

class Answer(BaseModel):
    id: str
    text: str | None = None

class Chunk(BaseModel):
    id: str
    text: str | None = None

class Checked:
    def verify(self):
        if self.number < 5:
            raise ValueError
"""

TABLE = """
package: tiny
version: "1.0"
parts:
  chat.request: tiny/protocol.py:Request
  chat.response: tiny/protocol.py:Answer
  chat.stream: {class: "tiny/protocol.py:Chunk", reading: written-where-set}
checks:
  - method: tiny/protocol.py:Checked.verify
    parts: {chat.request: {number: seed}}
"""

TEXT = {"type": ["string", "null"]}
_CHUNK = {"type": "object", "properties": {"id": {"type": "string"}, "text": TEXT}, "required": ["id"]}

DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "servers": [{"url": "/v1"}],
    "paths": {
        "/chat": {
            "post": {
                "operationId": "chat",
                "x-endpoint": "chat",
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Request"}}}},
                "responses": {
                    "200": {
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Answer"}},
                            "text/event-stream": {
                                "x-itemSchema": {
                                    "properties": {"data": {"contentSchema": {"$ref": "#/components/schemas/Event"}}}
                                }
                            },
                        }
                    }
                },
            }
        },
        "/health": {"get": {"operationId": "health", "x-endpoint": "health", "responses": {"200": {}}}},
    },
    "components": {
        "schemas": {
            "Request": {
                "type": "object",
                "properties": {
                    "model": {"type": "string"},
                    "seed": {"type": ["integer", "null"], "minimum": 5},
                    "stream": {"type": "boolean", "default": False},
                },
                "required": ["model"],
            },
            "Answer": {**_CHUNK, "required": ["id", "text"]},
            "Chunk": _CHUNK,
            "Event": {
                "anyOf": [{"$ref": "#/components/schemas/Chunk"}, {"$ref": "#/components/schemas/ErrorResponse"}]
            },
            "ErrorResponse": {"type": "object", "properties": {"error": {"type": "object"}}},
        }
    },
    "x-dialect": {"version": {"name": "2.0"}},
}


def document() -> dict[str, Any]:
    """A document that agrees with the classes, to be changed."""
    return deepcopy(DOCUMENT)


def sources(folder: Path) -> Path:
    """Writes the classes; returns the folder that `--source` takes."""
    package(folder, "tiny", {"protocol.py": PROTOCOL})
    return folder
