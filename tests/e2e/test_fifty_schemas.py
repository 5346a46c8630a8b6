"""A model keeps to schemas, and comes to an end."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import jsonschema_rs
from support.fifty_schemas import REQUESTS
from support.serving import Server


def test_a_model_keeps_to_fifty_schemas(tiny_server: Server) -> None:
    assert len(REQUESTS) == 50
    with httpx.Client(base_url=tiny_server.url, timeout=300) as client:

        def ask(request: tuple[str, dict[str, Any]]) -> dict[str, Any]:
            question, schema = request
            answer = client.post(
                "/chat/completions",
                json={
                    "model": "tiny",
                    "messages": [{"role": "user", "content": f"{question} Answer in JSON."}],
                    "response_format": {
                        "type": "json_schema",
                        "json_schema": {"name": "a", "schema": schema, "strict": True},
                    },
                    "max_completion_tokens": 512,
                    "temperature": 0,
                },
            )
            assert answer.status_code == 200, answer.text
            choice: dict[str, Any] = answer.json()["choices"][0]
            return choice

        with ThreadPoolExecutor(16) as threads:
            choices = list(threads.map(ask, REQUESTS))
    finished = 0
    for (_, schema), choice in zip(REQUESTS, choices, strict=True):
        if choice["finish_reason"] == "stop":
            finished += 1
            value = json.loads(choice["message"]["content"])
            jsonschema_rs.validator_for(schema, validate_formats=True).validate(value)
    assert finished >= 45, [choice for choice in choices if choice["finish_reason"] != "stop"]
