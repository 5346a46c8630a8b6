import json

from sizes.page import PAGE, PLOT, RESULTS, page, plot


def test_the_page_has_the_results() -> None:
    results = json.loads(RESULTS.read_text("utf-8"))
    assert PAGE.read_text("utf-8") == page(results)
    assert PLOT.read_text("utf-8") == plot(results)
