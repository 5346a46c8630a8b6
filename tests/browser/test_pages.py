"""Every page in Chromium, light and dark, 1280 and 390 pixels wide: no fault, no other host, axe-core is content."""

from support.serving import serving

from specvino.generated.systems import SYSTEMS
from specvino.portal.source import Source


def faults(views):
    return {(view["url"], view["scheme"]): view["faults"] for view in views if view["faults"]}


def test_every_page(site, address, node, tmp_path) -> None:
    pages = sorted(str(page.relative_to(site)) for page in site.rglob("*.html"))
    assert len(pages) > 30
    views = node("look.mjs", str(tmp_path), *(f"{address}/{page}" for page in pages))
    assert len(views) == 2 * len(pages)
    assert faults(views) == {}


def test_pages_open_from_the_disk(site, node, tmp_path) -> None:
    pages = [site / "index.html", site / "matrix.html", site / "reference" / "vllm.html"]
    views = node("look.mjs", str(tmp_path), *(page.as_uri() for page in pages))
    assert faults(views) == {}


def test_the_reference_has_the_events_of_streams(address, node) -> None:
    for system in ("specvino", "vllm"):
        [page] = node("events.mjs", f"{address}/reference/{system}.html")
        assert "Stream item" in page["text"]
        assert "Chunk" in page["text"]
        assert "[DONE]" in page["text"]


def test_the_served_process_shows_its_reference(node, tmp_path) -> None:
    with serving("--engine", "scripted", env={"SPECVINO_API_KEY": "right"}) as server:
        views = node("look.mjs", str(tmp_path), server.url.removesuffix("/v1") + "/docs")
    assert faults(views) == {}
    assert "Continue a conversation" in views[0]["text"]


def test_the_served_process_shows_its_chat(node, tmp_path) -> None:
    with serving("--engine", "scripted") as server:
        views = node("look.mjs", str(tmp_path), server.url.removesuffix("v1"))
    assert faults(views) == {}
    assert "scripted" in views[0]["text"]


def test_a_conversation_on_the_page_of_a_server_with_a_key(node) -> None:
    with serving("--engine", "scripted", env={"SPECVINO_API_KEY": "right"}) as server:
        [seen] = node("chat.mjs", server.url.removesuffix("v1"), "right")
    steps = seen["steps"]
    assert seen["faults"] == []
    assert steps["model"] == "scripted"
    assert steps["stored"] == [0, 0, 0]
    assert "<img/src=x/id=injected>" in steps["answer"].split("scripted")[1]
    assert not steps["injected"]
    assert "Tool call: get_weather" in steps["call"]
    assert "sunny" in steps["after"]
    assert "Tool call" in steps["after"]
    assert steps["stopped"].strip().endswith("Stopped.")


def test_two_clicks_from_the_home_page_to_what_vllm_does_with_min_p(address, node) -> None:
    [page] = node("two_clicks.mjs", f"{address}/index.html")
    assert {"chat.min_p", "completions.min_p"} <= page["rows"].keys()
    assert all("min_p" in name for name in page["rows"])
    assert page["rows"]["chat.min_p"].startswith("full")
    assert page["url"].endswith("?field=min_p")


def test_the_filters_of_the_matrix(address, node) -> None:
    fields = [field for field in Source().fields if field.endpoint == "chat" and "vllm" in field.support]
    unknown = [field.name for field in fields if field.support["vllm"].level == "unknown"]
    chosen = "?endpoint=chat&system=vllm"
    first, second = node("filtered.mjs", f"{address}/matrix.html{chosen}&level=unknown")
    assert first["names"] == unknown
    assert first["count"] == f"{len(unknown)} of {len(Source().fields)} fields"
    assert second["names"] == [field.name for field in fields]
    assert second["address"] == chosen


def test_the_search_finds_a_field_by_its_name(address, node) -> None:
    [page] = node("search.mjs", f"{address}/index.html", "min_p")
    assert [found["title"] for found in page["found"]] == ["min_p"] * 3
    assert page["found"][0]["address"].endswith("endpoints/chat.html?h=min_p#chat.min_p")


def test_rows_of_the_matrix_are_cards_on_a_phone(address, node) -> None:
    [shown] = node("cards.mjs", f"{address}/matrix.html?endpoint=chat", "chat.min_p")
    assert shown["content"] <= shown["box"] <= 390
    assert shown["card"] > 300
    assert len(shown["labels"]) == 1 + len(SYSTEMS)
    version = Source().dialect("vllm")["x-dialect"]["version"]
    assert [label for label in shown["labels"] if f"vLLM {version['name']}" in label and version["date"] in label]


def test_tables_of_servers_are_cards_on_a_phone(address, node) -> None:
    boxes = node("phone.mjs", f"{address}/servers.html")
    assert len(boxes) >= 3
    assert all(box["content"] <= box["box"] <= 390 for box in boxes)


def test_the_comparison_of_servers_fits_on_a_phone_or_says_that_it_scrolls(address, node) -> None:
    servers, rules = node("phone.mjs", f"{address}/servers/matrix/index.html")
    assert servers["content"] <= servers["box"] <= 390
    assert rules["content"] > rules["box"]
    assert rules["stays"]
    assert rules["before"].startswith("The table scrolls sideways: it has ")
