"""Keys don't get into reports, and a command repeats a request without them."""

import base64
import json
import shlex
import subprocess
from dataclasses import replace

import pytest
from support.reports import exchange

from specvino.conformance.http.client import Target
from specvino.conformance.http.exchange import MESSAGE, Request
from specvino.conformance.reports.convert import LONGEST, Converter, command
from specvino.conformance.reports.redact import HIDDEN, Redactor
from specvino.conformance.verdict import Finding, Result, Verdict

KEY = "sk-secret-key"


def converted(*exchanges, message="wrong"):
    result = Result("chat/a/b", "cases", "It is so.", Verdict.FAIL, findings=(Finding(message, exchanges),))
    return Converter(Target("http://127.0.0.1:8000/v1", KEY)).line(result)


def test_a_key_that_the_server_echoes_is_out_of_everything() -> None:
    echo = exchange(
        headers={"x-seen": f"Bearer {KEY}", "set-cookie": "session=1"},
        content=f'{{"key": "{KEY}"}}'.encode(),
        problem=f"broke at {KEY}",
    )
    text = converted(echo, message=f"the key {KEY} is told").model_dump_json()
    assert "secret" not in text
    assert "session=1" not in text
    assert text.count(HIDDEN) == 6


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ('a"b/c\\d-long', r"a\"b/c\\d-long"),
        ("a/b+c=long", "a%2Fb%2Bc%3Dlong"),
        ("a/b+c=long", "a%252Fb%252Bc%253Dlong"),
        ("a/b+c=long", "&#97;&#x2F;b&#43;c=long"),
        ("a<b&c-long", "a&lt;b&amp;c-long"),
        ("long-key-1", "xlong-key-1x"),
    ],
)
def test_a_key_is_found_as_others_write_it(key, text) -> None:
    assert Redactor([key]).text(f"<{text}>").strip("<x>") == HIDDEN


@pytest.mark.parametrize("before", ["", "u:", "me:", "user:", "Bearer "])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
@pytest.mark.parametrize("key", [KEY, "sk?>~~key/+1", "k" * 3000])
def test_a_key_within_base64_is_found(before, encode, key) -> None:
    text = encode(f"{before}{key}".encode()).decode()
    shown = Redactor([key]).text(f'{{"authorization": "Basic {text}"}}')
    left = shown.split("Basic ")[1].replace(HIDDEN, "").strip('"}')
    assert HIDDEN in shown
    # Beside the key there are a few characters of what stands before it, and bits of its first character.
    assert len(left) <= len(before) * 4 / 3 + 1
    assert HIDDEN in Redactor([key]).text(f"it begins with {text[: len(text) * 3 // 4]!r}")


@pytest.mark.parametrize(
    "cut", ["{}", "{!r}", '"{}…', "{}***", "{}... is", "{}\r\n{{}}", "({})", "a: {}\nmore", r"{{\"a\": \"{}\"}}"]
)
def test_a_text_that_was_cut_within_a_key_does_not_show_its_half(cut) -> None:
    for end in range(len(KEY) // 2, len(KEY)):
        assert KEY[: len(KEY) // 2] not in Redactor([KEY]).text(cut.format(KEY[:end]))


@pytest.mark.parametrize(
    "text",
    [
        "no key SK-SECRET-KEY here",
        "no key Sk-Secret-Key here",
        f"no key {KEY.encode().hex()} here",
        f"no key {KEY.encode().hex().upper()} here",
        f"no key {KEY.encode().hex(':')} here",
        "no key " + "".join(f"\\x{byte:02x}" for byte in KEY.encode()) + " here",
        f"no key {KEY.encode().hex()[: len(KEY) * 3 // 2]}",
        "no key secret-key here",
        "no key …SECRET-KEY here",
        "no key 'cret-key' here",
    ],
)
def test_a_key_is_known_in_hex_in_other_case_and_without_its_beginning(text) -> None:
    shown = Redactor([KEY]).text(text)
    assert HIDDEN in shown
    assert not {"secret", "cret-key", KEY.encode().hex()[8:16]} & {*shown.lower().replace("'", " ").split(" ")}
    assert len(shown) <= len("no key \\x'[redacted]' here")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("my-development", "development, and your-development"),
        ("sk-secret-key", "the key is secret, its length 13"),
        ("none", "None and NONE"),
        ("token-abc123", "the abc123 of it"),
        (KEY, KEY.encode().hex()[:11]),
        ("a-long-key-of-many-words", "a-long-key-of-other-words"),
        ("a-long-key-of-many-words", "'a-long-key-of-other-words'"),
    ],
)
def test_what_is_like_a_key_stays(key, text) -> None:
    assert Redactor([key]).text(text) == text


PUBLIC = (
    "curl -sS http://127.0.0.1:8000/v1/chat/completions -H 'content-type: application/json' "
    "'http://127.0.0.1:8000/v1' \"http://127.0.0.1:8000\" (http://127.0.0.1) http://127.0.0.1:8000/v1"
)


@pytest.mark.parametrize(
    "value",
    [
        "http://127.0.0.1:9999/v1",
        "http://127.0.0.1:8000/v1",
        "http://127.0.0.1:8000/v1/",
        "http://127.0.0.1:8000/v1/chat",
        "http://127.0.0.1:8000",
        "http://127.0.0.1:80",
        "http://127.0.0.1",
        "127.0.0.1:8000",
        "127.0.0.1:9999",
        "Bearer 127.0.0.1:8000/v1",
        "https://up.example/v1",
        "application/json",
        "application/json; charset=utf-8",
        "https://up.example/v1/chat/completions",
        "up.example/v1/chat/completions",
    ],
)
def test_a_header_does_not_take_the_target_away(value) -> None:
    redactor = Redactor.of(Target("http://127.0.0.1:8000/v1", KEY, extra={"x-upstream": value}))
    assert redactor.text(PUBLIC) in (PUBLIC, PUBLIC.replace(value, HIDDEN) if value.endswith(("/", "/chat")) else "")
    assert redactor.headers({"x-upstream": value}) == {"x-upstream": HIDDEN}
    assert redactor.text(f"by {KEY}") == f"by {HIDDEN}"


@pytest.mark.parametrize("media", ["application/json", "application/x-ndjson", "text/event-stream"])
def test_media_types_of_answers_stay(media) -> None:
    redactor = Redactor.of(Target("http://127.0.0.1:8000/v1", KEY, extra={"x-accepted": media}))
    assert redactor.text(f"the media type is {media}") == f"the media type is {media}"


def test_another_server_that_a_header_names_is_hidden() -> None:
    redactor = Redactor.of(Target("http://127.0.0.1:8000/v1", extra={"x-upstream": "http://127.0.0.1:9999/key-1"}))
    assert redactor.text("http://127.0.0.1:9999/key-1/x 'http://127.0.0.1:9999/ke'") == f"{HIDDEN}/x '{HIDDEN}'"
    assert redactor.text("'http://127.0.0.1:9999/' 'http://127.0.0.1:9998/k'") == (
        "'http://127.0.0.1:9999/' 'http://127.0.0.1:9998/k'"
    )


def test_a_key_in_the_url_is_a_key() -> None:
    assert Redactor.of(Target("http://a.example/sk-secret-key/v1", KEY)).text("/sk-secret-key/v1") == f"/{HIDDEN}/v1"


def test_a_text_and_headers_have_a_largest_length() -> None:
    redactor = Redactor([KEY])
    assert redactor.text("x" * 10**6) == "x" * 4_000 + "…"
    many = redactor.headers({f"x-{number}": "y" * 1_000 for number in range(10)})
    assert (len(many), many["…"]) == (4, "7 more")


def test_what_begins_as_a_key_stays_where_no_text_was_cut() -> None:
    assert Redactor(["token-abc123"]).text('a "token" is token-like text') == 'a "token" is token-like text'


def test_a_placeholder_is_no_secret_inside_of_words() -> None:
    assert Redactor(["none"]).text("nonetheless: none") == f"nonetheless: {HIDDEN}"


def test_half_a_key_does_not_survive_the_limit() -> None:
    for before in range(LONGEST - len(KEY) - 5, LONGEST + 5):
        shown = converted(exchange(content=b"." * before + KEY.encode())).findings[0].exchanges[0]
        assert "sk-" not in shown.response.body
    many = exchange(content=(KEY.encode() + b" ") * 50_000)
    assert "sk-" not in converted(many).findings[0].exchanges[0].response.body


def test_a_long_body_is_cut_and_its_size_told() -> None:
    shown = converted(exchange(content=b"x" * 100_000)).findings[0].exchanges[0]
    assert len(shown.response.body) == LONGEST + 1
    assert shown.response.size == 100_000


@pytest.mark.parametrize(
    ("text", "shown"), [("\x1b[31mred", "\\x1b[31mred"), ("\ud800", "\\ud800"), ("a\rb\r\nc\td", "a\\x0db\\x0ac\td")]
)
def test_what_a_terminal_would_obey_is_written_out(text, shown) -> None:
    assert Redactor([]).text(text) == shown


def test_bytes_that_are_no_text_are_shown() -> None:
    assert converted(exchange(content=b"\xff{}")).findings[0].exchanges[0].response.body == "\\xff{}"


def test_the_command_names_the_variable_of_the_key() -> None:
    line = command(exchange().request, Target("http://127.0.0.1:8000/v1", KEY))
    assert KEY not in line
    assert '-H "authorization: Bearer $SPECVINO_API_KEY"' in line


def test_the_command_has_the_header_that_the_key_goes_in() -> None:
    target = Target("http://127.0.0.1:8000/v1", KEY, key_header="api-key")
    line = command(Request("chat", "GET", "/models", target.credentials(KEY), None), target)
    assert '-H "api-key: $SPECVINO_API_KEY"' in line
    assert KEY not in line


def test_a_wrong_key_of_a_case_is_not_mistaken_for_the_right_one() -> None:
    request = Request("chat", "GET", "/models", {"authorization": "Bearer wrong"}, None)
    assert "Bearer wrong" in command(request, Target("http://127.0.0.1:8000/v1", KEY))


@pytest.mark.parametrize(
    "content",
    [b'{"a": "it\'s $HOME `date`"}', b"", b"\xff\x00%s\\n", '{"a": "é\u200b\n"}'.encode(), b"@file", b"\x1b[2J"],
)
def test_the_shell_hands_over_the_very_bytes(content, tmp_path) -> None:
    # A curl that says what it was given: the argument after --data-raw, or standard input.
    fake = tmp_path / "curl"
    fake.write_text(
        '#!/bin/sh\nwhile [ $# -gt 0 ]; do\n  case "$1" in\n    --data-raw) printf %s "$2"; exit;;\n'
        "    --data-binary) cat; exit;;\n  esac\n  shift\ndone\n"
    )
    fake.chmod(0o755)
    line = command(Request("chat", "POST", "/x", {}, content), Target("http://127.0.0.1:8000/v1"))
    ran = subprocess.run(["sh", "-c", line], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, check=True)
    assert ran.stdout == content


@pytest.mark.parametrize(
    ("method", "content", "words"),
    [
        ("GET", None, "curl -sS -i -N http"),
        ("DELETE", None, "-X DELETE"),
        ("POST", b"x" * 50_000, "--data-binary @body"),
    ],
)
def test_other_requests(method, content, words) -> None:
    assert words in command(Request(None, method, "//health", {}, content), Target("http://127.0.0.1:8000/v1"))


MESSAGE_REQUEST = Request(
    "responses", MESSAGE, "/responses", {"authorization": f"Bearer {KEY}"}, b'{"input": "it\'s"}', {"input": "it's"}
)


def test_a_message_on_a_websocket_is_sent_with_wscat() -> None:
    line = command(MESSAGE_REQUEST, Target("http://127.0.0.1:8000/v1", KEY))
    key = '-H "authorization: Bearer $SPECVINO_API_KEY"'
    message = shlex.quote(json.dumps(MESSAGE_REQUEST.body))
    assert line == f"wscat {key} -c ws://127.0.0.1:8000/v1/responses -w -1 -x {message}"


def test_how_a_message_on_a_websocket_over_tls_is_sent() -> None:
    url, certificates = "https://a.example/v1", "/tmp/a b.pem"
    assert "wscat -n -c wss://a.example" in command(replace(MESSAGE_REQUEST, headers={}), Target(url, insecure=True))
    assert "wscat --ca '/tmp/a b.pem' " in command(MESSAGE_REQUEST, Target(url, cacert=certificates))


@pytest.mark.parametrize("changed", [{"binary": True}, {"content": b"\xff"}, {"content": b"x" * 50_000}])
def test_a_message_that_no_command_can_send(changed) -> None:
    line = command(replace(MESSAGE_REQUEST, **changed), Target("http://127.0.0.1:8000/v1", KEY))
    assert "-x" not in line
    assert "isn't one for a command" in line


def test_messages_on_a_websocket_are_shown_without_keys() -> None:
    event = f'{{"type": "response.created", "key": "{KEY}"}}'.encode()
    shown = converted(exchange(request=MESSAGE_REQUEST, content=event, messages=(event,), times=(0.1,)))
    (record,) = shown.findings[0].exchanges
    assert KEY not in shown.model_dump_json()
    assert str(record) == "WS ws://127.0.0.1:8000/v1/responses -> 200"
    assert record.request.body == '{"input": "it\'s"}'
    assert record.response is not None
    assert record.response.body == '{"type": "response.created", "key": "[redacted]"}'
