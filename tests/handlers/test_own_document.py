"""The document of a running server says what that server does."""

import asyncio
import copy
from typing import Any

import pytest

from specvino.document.loading import CONDITIONS, load, lowered, whole
from specvino.document.operations import by_endpoint, operations
from specvino.document.pointers import resolved
from specvino.document.validator import Validators
from specvino.engine.protocol import ModelInfo
from specvino.engine.scripted import ScriptedEngine
from specvino.handlers.limits import Limits
from specvino.handlers.models import ServedModel, ServedModels
from specvino.handlers.own_document import Door, Facts, OwnDocument
from specvino.handlers.own_document.described import described

MODEL = ModelInfo(context_length=100, vocabulary_size=50, defaults={})
SERVED = Facts(("m", "org/m"), MODEL, Limits(stores_responses=True), Door(asks_for_key=True))
DRAFTING = {
    "num_assistant_tokens": ("draft_model", "prompt_lookup"),
    "assistant_confidence_threshold": ("draft_model",),
    "max_ngram_size": ("prompt_lookup",),
}
GENERATING = ("chat", "completions", "responses")
MINIMAL: dict[str, dict[str, Any]] = {
    "chat": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    "completions": {"model": "m", "prompt": "hi"},
    "responses": {"model": "m", "input": "hi"},
    "tokenize": {"model": "m", "text": "hi"},
    "detokenize": {"model": "m"},
}


MADE: dict[str, dict[str, Any]] = {}
JUDGES: dict[int, tuple[dict[str, Any], Validators]] = {}


def of(**changed: Any) -> dict[str, Any]:
    """Made once for the same facts; not to be changed."""
    facts = Facts(**{name: getattr(SERVED, name) for name in Facts.__slots__} | changed)
    if repr(facts) not in MADE:
        MADE[repr(facts)] = described(whole(), facts)
    return MADE[repr(facts)]


def validators(document: dict[str, Any]) -> Validators:
    """Made once for a document, which stays beside them, so that no other one gets its id."""
    if id(document) not in JUDGES:
        JUDGES[id(document)] = document, Validators(document)
    return JUDGES[id(document)][1]


def accepts(document: dict[str, Any], endpoint: str, **fields: Any) -> bool:
    body = by_endpoint(document)[endpoint].body
    assert body is not None
    return validators(document).of(body).fits(MINIMAL[endpoint] | fields)


@pytest.mark.parametrize("document", [whole(), lowered()], ids=["3.2", "3.1"])
def test_the_shared_document_stays_as_it_is(document: dict[str, Any]) -> None:
    before = copy.deepcopy(document)
    described(document, Facts(("m",), MODEL, door=Door(max_body=1000, max_items=10)))
    assert document == before


def test_a_key_is_demanded_only_where_it_is() -> None:
    assert of()["security"] == whole()["security"]
    assert "401" in by_endpoint(of())["models"].definition["responses"]
    open_to_all = of(door=Door())
    assert open_to_all["security"] == []
    for operation in operations(open_to_all):
        assert "security" not in operation.definition
        assert "401" not in operation.definition["responses"]


def test_the_served_names() -> None:
    document = of()
    [parameter] = by_endpoint(document)["model"].parameters
    assert parameter["schema"]["enum"] == ["m", "org/m"]
    assert [example["value"] for example in parameter["examples"].values()] == ["m", "org/m"]
    assert accepts(document, "tokenize")
    assert not accepts(document, "tokenize", model="another")
    assert accepts(document, "chat", model="another")
    for endpoint in GENERATING:
        body = resolved(document, by_endpoint(document)[endpoint].body)
        assert body["properties"]["model"]["description"].endswith("Served here: `m`, `org/m`.")


def test_examples_are_valid() -> None:
    document = of()
    operation = by_endpoint(document)["tokenize"]
    assert operation.body is not None
    examples = operation.definition["requestBody"]["content"]["application/json"]["examples"].values()
    assert examples
    assert all(validators(document).of(operation.body).fits(example["value"]) for example in examples)


def test_bodies_of_links_are_valid() -> None:
    document = of(limits=Limits(max_tokens=8, stores_responses=True))
    links = by_endpoint(document)["models"].definition["responses"]["200"]["links"]
    targets = {operation.id: operation for operation in operations(document)}
    sent = 0
    for link in links.values():
        body = targets[link["operationId"]].body
        if body is not None:
            sent += 1
            assert link["x-schemathesis"] == {"merge_body": False}
            assert link["requestBody"]["model"] == "$response.body#/data/0/id"
            assert validators(document).of(body).fits(link["requestBody"] | {"model": "m"})
    assert sent == 4


@pytest.mark.parametrize(
    ("endpoint", "field"),
    [("chat", "max_tokens"), ("chat", "max_completion_tokens"), ("completions", "max_tokens")],
)
def test_the_most_tokens(endpoint: str, field: str) -> None:
    assert accepts(of(), endpoint, **{field: 99})
    assert not accepts(of(), endpoint, **{field: 100})
    assert accepts(of(model=None), endpoint, **{field: 100})
    limited = of(limits=Limits(max_tokens=8, stores_responses=True))
    assert accepts(limited, endpoint, **{field: 8})
    assert not accepts(limited, endpoint, **{field: 9})


def test_the_widest_search() -> None:
    assert accepts(of(limits=Limits(best_of=4)), "chat", best_of=4)
    assert not accepts(of(limits=Limits(best_of=4)), "chat", best_of=5)


@pytest.mark.parametrize("drafting", [None, "draft_model", "prompt_lookup"])
@pytest.mark.parametrize("endpoint", GENERATING)
def test_settings_of_speculative_decoding(endpoint: str, drafting: Any) -> None:
    document = of(model=ModelInfo(100, 50, {}, drafting=drafting))
    for field, kinds in DRAFTING.items():
        assert accepts(document, endpoint, **{field: None})
        assert accepts(document, endpoint, **{field: 1}) == (drafting in kinds)
    assert accepts(document, endpoint, best_of=2) == (drafting is None)
    assert accepts(document, endpoint, min_tokens=1)
    document = of(model=ModelInfo(100, 50, {}, drafting=drafting, full_logits=False))
    assert accepts(document, endpoint, min_tokens=1) == (drafting is None)


def test_token_ids() -> None:
    assert accepts(of(), "completions", prompt=[49])
    assert not accepts(of(), "completions", prompt=[50])
    assert not accepts(of(), "completions", prompt=[[50]])
    assert accepts(of(), "detokenize", tokens=[[49]])
    assert not accepts(of(), "detokenize", tokens=[[50]])
    assert not accepts(of(), "chat", prompt_token_ids=[50])
    for field in ("logprob_token_ids", "allowed_token_ids", "bad_words_token_ids"):
        assert accepts(of(), "chat", **{field: [49]})
        assert not accepts(of(), "chat", **{field: [50]})


@pytest.mark.parametrize("size", [1, 7, 10, 11, 50, 100, 2010, 32768])
def test_the_tokens_of_a_bias(size: int) -> None:
    document = of(model=ModelInfo(100, size, {}))
    for id in {0, size // 3, size // 2, size - 1}:
        for key in (str(id), f"{id:05}", f"{id:010}"):
            assert accepts(document, "chat", logit_bias={key: 1}), key
    for key in (str(size), str(size + 9), f"{size:010}", "9999999999", f"{0:011}", "-1", ""):
        assert not accepts(document, "chat", logit_bias={key: 1}), key


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
INPUT_IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AA=="}


@pytest.mark.parametrize("vision", [False, True])
def test_a_model_that_sees_and_one_that_does_not(vision: bool) -> None:
    document = of(model=ModelInfo(100, 50, {}, vision=vision))
    text = {"type": "text", "text": "hi"}
    assert accepts(document, "chat", messages=[{"role": "user", "content": [text]}])
    assert accepts(document, "chat", messages=[{"role": "user", "content": [text, IMAGE]}]) == vision
    assert accepts(document, "chat", prompt_token_ids=[1]) == (not vision)
    items = [{"role": "user", "content": [INPUT_IMAGE]}]
    assert accepts(document, "responses", input=items) == vision
    listed = by_endpoint(document)["response_input_items"].content()["application/json"]["schema"]
    page = {
        "object": "list",
        "data": [{"id": "msg_1", "type": "message", "role": "user", "status": "completed", "content": [INPUT_IMAGE]}],
        "first_id": "msg_1",
        "last_id": "msg_1",
        "has_more": False,
    }
    assert validators(document).of(listed).fits(page)


def test_some_models_see_and_some_do_not() -> None:
    document = of(model=ModelInfo(100, 50, {}, vision=True), mixed_vision=True)
    assert "vision" not in document["x-facts"]
    assert accepts(document, "chat", prompt_token_ids=[1])


def test_the_size_of_a_body() -> None:
    document = of(door=Door(max_body=2000, max_items=10))
    assert accepts(document, "completions", prompt="a" * 2000)
    assert not accepts(document, "completions", prompt="a" * 2001)
    assert accepts(document, "chat", allowed_token_ids=[1] * 10)
    assert not accepts(document, "chat", allowed_token_ids=[1] * 11)


def test_a_server_that_stores_nothing() -> None:
    document = of(limits=Limits())
    assert accepts(document, "responses", background=False)
    assert not accepts(document, "responses", background=True)
    assert accepts(of(), "responses", background=True)
    assert "links" not in by_endpoint(document)["responses"].definition["responses"]["200"]
    links = by_endpoint(document)["models"].definition["responses"]["200"]["links"]
    assert "background" not in links["respond"]["requestBody"]


def test_the_facts_that_conditions_depend_on() -> None:
    facts = of(limits=Limits(max_tokens=8))["x-facts"]
    assert facts.keys() == load(CONDITIONS)["facts"].keys()
    assert (facts["max_tokens"], facts["last_token_id"], facts["stores_responses"]) == (8, 49, False)
    assert "drafting" not in of(model=None)["x-facts"]


def test_an_older_document_has_the_events_of_streams_alone() -> None:
    document = described(lowered(), SERVED)
    assert by_endpoint(document)["chat"].content()["text/event-stream"].keys() == {"x-itemSchema"}
    assert by_endpoint(document)["chat"].event == by_endpoint(of())["chat"].event


def test_what_only_the_model_can_say_comes_with_it() -> None:
    async def run() -> None:
        engine = ScriptedEngine(context_length=4096)
        own = OwnDocument(ServedModels([ServedModel(("m",), 1, engine)]), Limits(), Door())
        assert accepts(own.of("3.2"), "chat", max_tokens=100_000)
        await engine.start()
        assert not accepts(own.of("3.2"), "chat", max_tokens=100_000)
        assert own.of("3.2") is own.of("3.2")
        assert own.of("3.1")["openapi"].startswith("3.1.")
        await engine.close()

    asyncio.run(run())
