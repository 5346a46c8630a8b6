"""The metrics of all replicas in one scrape."""

import httpx
from prometheus_client.parser import text_string_to_metric_families
from support.replicas import deployed
from support.serving import wait_until

from specvino.server.ray.replica import merged

PAGE = """# HELP specvino_answers_total Answers.
# TYPE specvino_answers_total counter
specvino_answers_total{status="200"} 2.0
# HELP specvino_seconds How long.
# TYPE specvino_seconds histogram
specvino_seconds_bucket{le="1.0"} 1.0
specvino_seconds_bucket{le="+Inf"} 2.0
specvino_seconds_count 2.0
specvino_seconds_sum 3.0
"""


def samples(page: str) -> dict[tuple[str, str], float]:
    """The values by a sample's name and its replica."""
    return {
        (sample.name, sample.labels["replica"]): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.labels.get("le") in (None, "+Inf")
    }


def test_each_sample_has_its_replica() -> None:
    page = merged({"a": PAGE, "b": PAGE.replace("2.0", "5.0")}).decode()
    assert page.count("# TYPE specvino_answers_total counter") == 1
    assert samples(page) == {
        ("specvino_answers_total", "a"): 2.0,
        ("specvino_answers_total", "b"): 5.0,
        ("specvino_seconds_bucket", "a"): 2.0,
        ("specvino_seconds_bucket", "b"): 5.0,
        ("specvino_seconds_count", "a"): 2.0,
        ("specvino_seconds_count", "b"): 5.0,
        ("specvino_seconds_sum", "a"): 3.0,
        ("specvino_seconds_sum", "b"): 3.0,
    }


def test_all_replicas_are_in_one_scrape() -> None:
    options = ("--engine", "scripted", "--served-model-name", "m", "--response-store", "none", "--replicas", "2")
    with deployed(*options, env={"SPECVINO_API_KEY": "sk-a"}) as server:
        headers = {"Authorization": "Bearer sk-a"}
        address = server.url.removesuffix("/v1")
        for number in range(16):
            body = {"model": "m", "prompt": f"{number}"}
            httpx.post(f"{server.url}/completions", json=body, headers=headers).raise_for_status()
        assert httpx.get(f"{address}/metrics").status_code == 401

        def scraped() -> dict[tuple[str, str], float]:
            return samples(httpx.get(f"{address}/metrics", headers=headers).text)

        # A request is counted after its last byte.
        wait_until(lambda: sum(v for (name, _), v in scraped().items() if name == "http_requests_total") >= 16)
        assert len({replica for _, replica in scraped()}) == 2
