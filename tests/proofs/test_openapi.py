"""The document, as the server gives it."""

import httpx

from proofs import proves


@proves("openapi.query.dialect")
def test_the_document_of_another_system(http: httpx.Client) -> None:
    document = http.get("/openapi.json", params={"dialect": "vllm"}).json()
    assert document["info"]["title"] == "The OpenAI-compatible API of vLLM"


@proves("openapi.query.version")
def test_an_older_version(http: httpx.Client) -> None:
    document = http.get("/openapi.json", params={"version": "3.1"}).json()
    assert document["openapi"].startswith("3.1.")
