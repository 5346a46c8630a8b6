"""The names that the server answers to."""

import pytest
from support.app import Client, error_of

from specvino.generated.errors import ErrorCode
from specvino.handlers.errors import ApiError
from specvino.server.access import EVERY, HostError, allowed_hosts, is_host_allowed, require_host
from specvino.server.settings import Settings


@pytest.mark.parametrize(
    "header",
    [
        "localhost",
        "localhost:8000",
        "LOCALHOST.:8000",
        "127.0.0.1:8000",
        "192.168.1.7",
        "[::1]:8000",
        "[fe80::1]",
        "specvino:8000",
        "box.local",
        "host.docker.internal:8000",
        "",
    ],
)
def test_what_nobody_can_have_on_the_internet_is_always_allowed(header) -> None:
    assert is_host_allowed(header, frozenset())


@pytest.mark.parametrize(
    "header",
    [
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "a.localhost.evil",
        "0x7f.1",
        "[::1].evil.example",
        "[evil.example]",
        "localhost:80:evil.example",
        "evil.example.",
    ],
)
def test_other_names_have_to_be_given(header) -> None:
    assert not is_host_allowed(header, frozenset())
    assert is_host_allowed(header, frozenset({EVERY}))


def test_names_that_are_given() -> None:
    names = allowed_hosts(["api.example.com, *.Example.org", "other.test"], has_keys=False)
    for header in ("api.example.com", "API.example.com:443", "a.example.org", "a.b.example.org", "other.test."):
        assert is_host_allowed(header, names)
    for header in ("example.com", "example.org", "notexample.org", "api.example.com.evil.test"):
        assert not is_host_allowed(header, names)


@pytest.mark.parametrize("value", ["https://example.com", "example.com:80", "a b", "*example.com", "[::1]"])
def test_what_is_no_name(value) -> None:
    with pytest.raises(HostError, match="allowed host"):
        allowed_hosts([value], has_keys=False)


def test_a_page_whose_name_leads_here_has_no_key() -> None:
    assert allowed_hosts([], has_keys=True) == {EVERY}
    assert allowed_hosts([], has_keys=False) == frozenset()


@pytest.mark.parametrize("path", ["/v1/models", "/health", "/docs", "/openapi.json", "/nope"])
def test_every_path_is_refused(path) -> None:
    client = Client(settings=Settings(hosts=frozenset()))
    error = error_of(client.ask("GET", path, headers={"host": "evil.example"}), 403, "host_not_allowed")
    assert "'evil.example'" in error["message"]
    assert "--allowed-hosts" in error["message"]
    assert client.ask("GET", "/health", headers={"host": "127.0.0.1:8000"}).status_code == 200


@pytest.mark.parametrize(
    ("version", "hosts", "accepted"),
    [("1.1", 1, True), ("1.1", 0, False), ("1.1", 2, False), ("1.0", 0, True), ("1.0", 2, False)],
)
@pytest.mark.parametrize("names", [frozenset(), frozenset({EVERY})])
def test_a_request_has_one_host_header(version, hosts, accepted, names) -> None:
    scope = {"http_version": version, "headers": [(b"accept", b"*/*"), *[(b"host", b"localhost")] * hosts]}
    if accepted:
        require_host(scope, names)
    else:
        with pytest.raises(ApiError, match="Host headers; exactly one is required") as caught:
            require_host(scope, names)
        assert caught.value.code == ErrorCode.INVALID_HTTP
