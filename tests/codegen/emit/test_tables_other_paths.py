"""Which paths of other systems a path of ours would take for an id."""

from specvino.codegen.emit.tables import other_paths

DOCUMENT = {
    "servers": [{"url": "/v1"}],
    "paths": {path: {"get": {"operationId": path}} for path in ("/things", "/things/{id}", "/things/{id}/cancel")},
}


def matched(*paths):
    return other_paths(DOCUMENT, [{"base_paths": ["/v3", "/v3/v1"], "other_operations": [{"path": ", ".join(paths)}]}])


def test_names_that_would_be_ids() -> None:
    assert matched("/v3/things/count", "/v3/v1/things/pack/cancel", "/things/load") == [
        "/things/count",
        "/things/load",
        "/things/pack/cancel",
    ]


def test_what_nothing_of_ours_matches_is_left_out() -> None:
    assert matched("/v3/things", "/v3/others/count", "/v3/things/{id}", "/v3/things/**", "any", "/v3/things?x=1") == []


def test_the_real_ones(real) -> None:
    assert {"/models/load", "/responses/render"} <= set(other_paths(real.document, real.dialects.values()))
