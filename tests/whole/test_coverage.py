"""How much of the document the suite exercises: tracecov counts, for each keyword of the requests' schemas, whether
there was a value that keeps it and one that breaks it."""

import tracecov
from support.judging import judge
from support.proxy import Exchange, breaking
from support.serving import serving

from specvino.document.loading import lowered

LAYERS = ("cases", "streams", "fuzz")


def coverage():
    return tracecov.CoverageMap.from_dict(lowered(), base_path="/v1")


def seen_by(coverages):
    def see(exchange: Exchange) -> None:
        url = f"http://127.0.0.1{exchange.path}"
        request = tracecov.HttpRequest(exchange.method, url, exchange.sent or None, exchange.sent_headers)
        answer = tracecov.HttpResponse(exchange.status, 0.0, exchange.body, exchange.headers)
        for coverage in coverages:
            coverage.record(request, answer)

    return see


def test_keywords() -> None:
    whole = coverage()
    with serving("--engine", "scripted", "--served-model-name", "m") as server:
        for layer in LAYERS:
            alone = coverage()
            with breaking(server.url, seen_by([whole, alone])) as url:
                judge(url, layers=(layer,), concurrency=1)
            show(layer, alone)
    show("whole", whole)
    summary = whole.build_json_report()["summary"]
    assert summary["operations"]["percent"] == 100
    assert summary["keywords"]["percent"] >= 95


def show(layer, coverage):
    keywords, operations = coverage.statistic()["keywords"], coverage.statistic()["operations"]
    print(
        f"\n{layer}: {operations['seen']} of {operations['total']} operations; of {keywords['total']} keywords "
        f"{keywords['full'] / keywords['total']:.1%} both ways, "
        f"{keywords['positive'] / keywords['total']:.1%} with a value that keeps them, "
        f"{keywords['negative'] / keywords['total']:.1%} with one that breaks them"
    )
