"""Several models in one server: each answers the requests that name it, within its own limits."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from specvino.document.operations import by_endpoint
from specvino.engine.output_parsers.selection import SelectedParsers
from specvino.engine.protocol import EngineStats, ModelInfo, State
from specvino.engine.scripted import ScriptedEngine
from specvino.handlers import bind
from specvino.handlers.models import ServedModel
from specvino.handlers.own_document.facts import widest
from specvino.server.app import create_app
from specvino.server.assembly.storage import response_store
from specvino.server.settings import Settings
from specvino.server.telemetry.telemetry import Telemetry

Client = httpx.AsyncClient
CALL = {"tools": [{"type": "function", "function": {"name": "f"}}]}


class Engine(ScriptedEngine):
    """Has a state that a test sets."""

    state: State | None = None

    def stats(self) -> EngineStats:
        stats = super().stats()
        return EngineStats(self.state or stats.state, stats.running, stats.waiting, stats.restarts)


def served(test: Callable[[Client, dict[str, Engine]], Awaitable[None]], store: str = "none") -> None:
    """Runs a test on a server of two models: `a`, which answers in lower case, and `b`, which was taught no calls."""

    async def run() -> None:
        engines = {"a": Engine(defaults={"max_tokens": 2}), "b": Engine(parsers=SelectedParsers(None, None))}
        telemetry = Telemetry(engines, Settings())
        models = [
            ServedModel((name, f"{name}-too"), number, engine, telemetry.observers(name))
            for number, (name, engine) in enumerate(engines.items())
        ]
        responses = response_store(store, 30, None)
        await responses.open()
        handlers = bind(models, responses)
        app = create_app(handlers, Settings(), telemetry=telemetry)
        for engine in engines.values():
            await engine.start()
        try:
            async with Client(transport=httpx.ASGITransport(app), base_url="http://test") as client:
                await test(client, engines)
        finally:
            await handlers.close()
            await responses.close()

    asyncio.run(run())


async def chat(client: Client, model: str, **fields: Any) -> httpx.Response:
    body = {"model": model, "messages": [{"role": "user", "content": "one two three"}], "temperature": 0, **fields}
    return await client.post("/v1/chat/completions", json=body)


def test_a_request_goes_to_the_model_that_it_names() -> None:
    async def test(client: Client, engines: dict[str, Engine]) -> None:
        for model, text, reason in (("a", "one two", "length"), ("b", "one two three", "stop")):
            for name in (model, f"{model}-too"):
                answer = (await chat(client, name)).json()
                assert answer["model"] == name
                choice = answer["choices"][0]
                assert (choice["message"]["content"].strip(), choice["finish_reason"]) == (text, reason)
        assert engines["a"].generated_tokens < engines["b"].generated_tokens

    served(test)


def test_all_are_listed_and_no_other_is_served() -> None:
    async def test(client: Client, _: dict[str, Engine]) -> None:
        listed = (await client.get("/v1/models")).json()["data"]
        assert [(model["id"], model["created"]) for model in listed] == [("a", 0), ("a-too", 0), ("b", 1), ("b-too", 1)]
        assert (await client.get("/v1/models/b")).json() == listed[2]
        for answer in (
            await chat(client, "c"),
            await client.post("/v1/responses", json={"model": "c", "input": "x"}),
            await client.post("/v1/tokenize", json={"model": "c", "text": "x"}),
            await client.get("/v1/models/c"),
        ):
            assert answer.status_code == 404
            assert answer.json()["error"]["message"].endswith("available: a, a-too, b, b-too.")

    served(test)


def test_what_has_no_effect_is_that_of_the_model() -> None:
    async def test(client: Client, _: dict[str, Engine]) -> None:
        assert "x-unsupported-params" not in (await chat(client, "a", **CALL)).headers
        assert (await chat(client, "b", **CALL)).headers["x-unsupported-params"] == "tools"

    served(test)


def test_one_that_is_lost_keeps_nothing_from_the_other() -> None:
    async def test(client: Client, engines: dict[str, Engine]) -> None:
        await engines["a"].close()
        assert (await chat(client, "a")).status_code == 503
        assert (await chat(client, "b")).status_code == 200
        assert (await client.get("/health")).status_code == 200
        await engines["b"].close()
        assert (await client.get("/health")).status_code == 503

    served(test)


@pytest.mark.parametrize(
    ("states", "status"),
    [
        (("ready", "ready"), 200),
        (("ready", "restarting"), 200),
        (("stalled", "ready"), 200),
        (("ready", "loading"), 503),
        (("loading", "loading"), 503),
        (("restarting", "stalled"), 503),
    ],
)
def test_a_server_is_ready_when_all_were_loaded_and_as_long_as_one_answers(
    states: tuple[State, State], status: int
) -> None:
    async def test(client: Client, engines: dict[str, Engine]) -> None:
        engines["a"].state, engines["b"].state = states
        assert (await client.get("/health")).status_code == status

    served(test)


def test_a_response_is_continued_by_another_model(tmp_path: Any) -> None:
    async def test(client: Client, _: dict[str, Engine]) -> None:
        first = (await client.post("/v1/responses", json={"model": "a", "input": "one"})).json()
        body = {"model": "b", "input": "two", "previous_response_id": first["id"], "background": True}
        second = (await client.post("/v1/responses", json=body)).json()
        assert second["status"] == "queued"
        for _turn in range(1000):
            stored = (await client.get(f"/v1/responses/{second['id']}")).json()
            if stored["status"] == "completed":
                break
            await asyncio.sleep(0.01)
        assert (stored["status"], stored["model"], stored["previous_response_id"]) == (
            "completed",
            "b",
            first["id"],
        )

    served(test, f"sqlite+aiosqlite:///{tmp_path}/responses.db")


def test_metrics_have_the_models_names() -> None:
    async def test(client: Client, _: dict[str, Engine]) -> None:
        for _turn in range(2):
            await chat(client, "b-too")
        await chat(client, "a")
        lines = (await client.get("/metrics")).text.splitlines()
        for model, count in (("a", 1), ("b", 2)):
            labels = f'model_name="{model}"'
            for name in (
                "vllm:request_prompt_tokens_count",
                "vllm:e2e_request_latency_seconds_count",
                "vllm:time_to_first_token_seconds_count",
            ):
                assert [float(line.split()[-1]) for line in lines if line.startswith(name) and labels in line] == [
                    count
                ]
            gaps = "vllm:inter_token_latency_seconds_count"
            assert [line for line in lines if line.startswith(gaps) and labels in line]
            assert [line for line in lines if line.startswith("vllm:num_requests_running{") and labels in line]
        assert not [line for line in lines if 'model_name="b-too"' in line]

    served(test)


def test_the_document_says_what_holds_for_any_of_them() -> None:
    async def test(client: Client, _: dict[str, Engine]) -> None:
        document = (await client.get("/openapi.json")).json()
        (parameter,) = by_endpoint(document)["model"].parameters_in("path")
        assert parameter["schema"]["enum"] == ["a", "a-too", "b", "b-too"]

    served(test)
    small, large = ModelInfo(10, 99, {}, vision=True, full_logits=False), ModelInfo(20, 50, {})
    assert widest([small, large]) == ModelInfo(20, 99, {}, vision=True)
    assert widest([large]) == large
    truncating = [ModelInfo(10, 99, {}, tokenizer_tokens=limit) for limit in (None, 9, 8)]
    assert widest(truncating).tokenizer_tokens == 8, "from which one of them refuses a text"


def test_what_a_model_lacks() -> None:
    class Lacking(Engine):
        @property
        def model(self) -> ModelInfo:
            return replace(super().model, template_lacks=("no tools",))

        @property
        def lacks_memory(self) -> tuple[str, ...]:
            return ("too large",)

    async def test(client: Client, engines: dict[str, Engine]) -> None:
        engines["b"].__class__ = Lacking
        data = (await client.get("/v1/models")).json()["data"]
        assert [model.get("chat_template_lacks") for model in data] == [None, None, *[["no tools"]] * 2]
        assert [model.get("insufficient_memory") for model in data] == [None, None, *[["too large"]] * 2]

    served(test)
