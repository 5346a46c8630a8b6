"""Dialects and support levels, both ways."""

import copy

import pytest

from specvino.codegen.lint import lint, support
from specvino.document.system_fields import SystemFields


@pytest.fixture
def ovms(spec):
    return spec.dialects["ovms"]["fields"]["chat"]


def test_a_missing_dialect(spec, only) -> None:
    del spec.dialects["vllm"]
    only("dialects", "openapi/dialects/vllm.yaml does not exist")


def test_a_surplus_dialect(spec, only) -> None:
    spec.dialects["tgi"] = spec.dialects["vllm"]
    only("dialects", "openapi/dialects/tgi.yaml: tgi is not one of openai, ovms", "openapi/vocabulary.yaml")


def test_an_unknown_header(spec, only) -> None:
    spec.dialects["vllm"]["ports"] = 1
    only("dialects", "vllm", "'ports' was unexpected")


def test_a_schema_of_its_own_with_the_name_of_one_of_ours(spec, only) -> None:
    own = {"title": "Model", "description": "A model.", "type": "object"}
    spec.dialects["ovms"]["schemas"] = {"Model": own}
    only("dialects", "ovms.yaml: schemas has Model, which is the name of one of the document's")


@pytest.mark.parametrize(("part", "path"), [("request", "temperature"), ("response", "usage"), ("stream", "usage")])
def test_a_field_without_a_level(ovms, only, part, path) -> None:
    del ovms[part][path]
    name = f"chat.{path}" if part == "request" else f"chat.{part}.{path}"
    only("support", f"ovms.yaml {name}: needs a level in fields.chat.{part}: ")


def test_a_field_of_another_system_that_the_sources_have(spec, only) -> None:
    form = {"type": "object", "properties": {"schema": {"type": "object"}}}
    schema = {"type": "object", "properties": {"response_format": form}}
    described = {"parts": {"chat.request": schema}, "listed": {}, "is_partial": True, "unread": []}
    spec.sources["ovms"] = SystemFields({**described, "places": {}, "files": {}, "quoted": {}})
    only(
        "support",
        "ovms.yaml chat.response_format.schema: needs a level in fields.chat.request, since the sources have it: ",
    )


def test_a_field_that_does_not_exist(ovms, only) -> None:
    ovms["request"]["temprature"] = "full"
    only("support", "ovms.yaml chat request temprature", "there is no such field")


def test_a_level_of_a_field_of_excluded_types(ovms, only) -> None:
    ovms["request"]["messages[].content[].thinking"] = {"level": "ignored"}
    only("support", "ovms.yaml chat.messages[].content[].thinking", "chat.messages[].content[].type excludes")


def test_an_endpoint_that_does_not_exist(spec, only) -> None:
    spec.dialects["ovms"]["fields"]["chats"] = {"request": {"model": "full"}}
    only("support", "ovms.yaml chats: there is no such endpoint")


@pytest.mark.parametrize(("part", "level"), [("request", "absent"), ("response", "ignored"), ("stream", "refused")])
def test_the_levels_of_each_part(ovms, only, part, level) -> None:
    ovms[part]["model"] = level
    only("support", f"the level {level!r} is not one of")


def test_partial_without_a_note(ovms, only) -> None:
    ovms["request"]["temperature"] = "partial"
    only("support", "ovms.yaml chat.temperature", "partial needs a note")


def test_an_unquoted_comma_in_a_note(ovms, only) -> None:
    ovms["request"]["temperature"] = {"level": "full", "note": "Up to 2", "not more": None}
    only("support", "ovms.yaml chat.temperature", "'not more' is not known")


@pytest.mark.parametrize("schema", [{"type": "number", "maximum": "2"}, {"type": "txt"}, "number"])
def test_a_schema_is_one(ovms, only, schema) -> None:
    ovms["request"]["temperature"] = {"level": "full", "schema": schema}
    only("support", "ovms.yaml chat.temperature", "schema is not a valid JSON Schema")


def test_bounds_say_of_which_type_they_are(ovms, only) -> None:
    ovms["request"]["temperature"] = {"level": "full", "schema": {"maximum": 2}}
    only("support", "ovms.yaml chat.temperature", "a schema of bounds needs the type")


def test_null_is_among_the_values_or_is_not(ovms, only) -> None:
    ovms["request"]["temperature"] = {"level": "full", "nullable": "no"}
    only("support", "ovms.yaml chat.temperature", "nullable is true, false or the kinds")


@pytest.fixture
def tools(request_fields, schemas, ovms):
    """A field with fields inside, that OVMS has in full, and one inside it that OVMS itself defined."""
    marked = {"description": "x", "x-handling": "accepted", "x-origin": "openai"}
    inner = {"name": {"type": "string", "maxLength": 1} | marked}
    inner["cost"] = inner["name"] | {"x-origin": "ovms"}
    schemas["Extra"] = {"title": "Extra", "description": "x", "type": "object", "properties": inner}
    request_fields["extra"] = {"$ref": "#/components/schemas/Extra"} | marked
    ovms["request"] |= {"extra": "full", "extra.cost": "full"}
    return ovms["request"]


@pytest.fixture
def others(spec, tools):
    for system, dialect in {**spec.dialects, **spec.versions}.items():
        if system != "ovms":
            fields = dialect["fields"]["chat"]
            if isinstance(fields, dict):  # a new system's is one level for the whole endpoint
                fields["request"] |= {"extra": "ignored"}


@pytest.mark.usefixtures("others")
def test_levels_are_handed_on(spec, tools) -> None:
    assert lint(spec) == []
    tools["extra"] = "unknown"
    assert lint(spec) == [], "what is known inside of what is not may be said"


@pytest.mark.usefixtures("others")
def test_an_extension_needs_a_level_of_its_own(tools, only) -> None:
    del tools["extra.cost"]
    only("support", "ovms.yaml chat.extra.cost: needs a level")


@pytest.mark.usefixtures("others")
def test_what_is_in_a_partial_field_needs_a_level_of_its_own(tools, only) -> None:
    tools["extra"] = {"level": "partial", "note": "Some."}
    only("support", "ovms.yaml chat.extra.name: needs a level")


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("level", ["ignored", "refused"])
def test_nothing_is_said_of_what_is_in_a_field_that_is_not_there(tools, only, level) -> None:
    tools["extra"] = level
    only("support", "ovms.yaml chat.extra.cost", f"chat.extra is {level}")


def test_what_is_sent_instead(spec, ovms) -> None:
    ovms["response"]["usage"] = {"level": "partial", "note": "A number.", "schema": {"type": "integer"}}
    problems = [str(problem) for problem in lint(spec)]
    assert all("needs a level" in problem for problem in problems), "of the fields inside, and nothing else"


@pytest.mark.parametrize(("part", "path", "level"), [("request", "user", "ignored"), ("response", "model", "absent")])
@pytest.mark.parametrize("entry", [{"schema": {}}, {"nullable": True}, {"required": False}])
def test_a_field_that_a_system_is_without_is_not_described(ovms, only, part, path, level, entry) -> None:
    ovms[part][path] = {"level": level} | entry
    only("support", f"{next(iter(entry))} is for fields that the system has")


@pytest.mark.parametrize("level", ["absent", "unknown"])
def test_a_whole_endpoint(spec, level) -> None:
    spec.dialects["ovms"]["fields"]["models"] = level
    assert lint(spec) == []


def test_a_whole_part(spec, ovms) -> None:
    ovms["stream"] = "absent"
    assert lint(spec) == []


@pytest.mark.parametrize("level", ["full", "refused", "partial", None])
def test_a_whole_endpoint_of_another_level(spec, level) -> None:
    spec.dialects["ovms"]["fields"]["version"] = level
    problems = [str(problem) for problem in support.surplus(spec)]
    location = "openapi/dialects/ovms.yaml version"
    assert problems == [f"support: {location}: {level!r} is neither fields nor, for all of them, absent or unknown"]


@pytest.mark.parametrize(("part", "level"), [("request", "absent"), ("response", "ignored"), ("stream", "full")])
def test_a_whole_part_of_another_level(spec, ovms, part, level) -> None:
    ovms[part] = level
    problems = [str(problem) for problem in support.surplus(spec)]
    assert len(problems) == 1
    assert f"ovms.yaml chat {part}: {level!r} is neither fields nor" in problems[0]


@pytest.mark.parametrize("key", ["name", "base_paths", "auth", "headers", "errors", "stream", "unknown_fields"])
def test_what_a_system_s_own_document_shows(spec, key) -> None:
    del spec.dialects["vllm"][key]
    problems = [str(problem) for problem in support.dialects(spec)]
    assert problems[0] == f'dialects: openapi/dialects/vllm.yaml: "{key}" is a required property'


@pytest.mark.parametrize(
    ("where", "key", "value", "what"),
    [
        (("auth",), "headers", "X-Key", "'headers' was unexpected"),
        (("errors",), "envelope", "xml", '"xml" is not one of'),
        (("errors", "statuses"), "teapot", 418, "'teapot' was unexpected"),
        (("errors", "statuses"), "fault", 200, "errors.statuses.fault"),
        (("errors", "at"), "models", {"faults": 500}, "'faults' was unexpected"),
        (("stream", "chat"), "framing", ["data"], '["data"] is not one of'),
        (("stream", "chat"), "role_chunk", "first", "'role_chunk' was unexpected"),
        ((), "unknown_fields", "kept", '"kept" is not one of'),
        ((), "headers", ["X-Unsupported-Parameters"], "no answer has the header X-Unsupported-Parameters"),
    ],
)
def test_the_words_of_a_head(spec, only, where, key, value, what) -> None:
    head = spec.dialects["vllm"]
    for step in where:
        head = head[step]
    head[key] = value
    only("dialects", "vllm", what)


def test_a_status_that_is_not_said(spec, only) -> None:
    del spec.dialects["vllm"]["errors"]["statuses"]["overload"]
    only("dialects", 'vllm.yaml: errors.statuses: "overload" is a required property')


def test_a_stream_of_which_nothing_is_said(spec, only) -> None:
    del spec.dialects["vllm"]["stream"]["chat"]
    only("dialects", "vllm.yaml: stream needs chat")


def test_an_endpoint_of_a_head_that_does_not_exist(real) -> None:
    spec = copy.deepcopy(real)
    spec.dialects["vllm"]["stream"]["talk"] = spec.dialects["vllm"]["stream"]["chat"]
    spec.dialects["ovms"]["errors"]["at"]["modles"] = {"fault": 500}
    spec.dialects["ovms"]["auth"]["open"] = ["moddel"]
    spec.dialects["ovms"]["at_root"] = ["mdels"]
    spec.dialects["ovms"]["other_operations"] = [{"method": "GET", "path": "/x", "purpose": "x", "served_by": "helth"}]
    problems = [str(problem) for problem in support.dialects(spec)]
    assert problems == [
        "dialects: openapi/dialects/ovms.yaml: at_root names the unknown endpoint mdels",
        "dialects: openapi/dialects/ovms.yaml: auth names the unknown endpoint moddel",
        "dialects: openapi/dialects/ovms.yaml: errors names the unknown endpoint modles",
        "dialects: openapi/dialects/ovms.yaml: other_operations names the unknown endpoint helth",
        "dialects: openapi/dialects/vllm.yaml: stream names the unknown endpoint talk",
    ]


@pytest.mark.parametrize(
    ("part", "path", "message", "what"),
    [
        ("response", "model", {"level": "full", "default": "m"}, "default is for fields of requests"),
        ("request", "model", {"level": "full", "required": "always"}, "required is true, false or the kinds"),
    ],
)
def test_where_defaults_and_required_may_stand(ovms, only, part, path, message, what) -> None:
    ovms[part][path] = message
    only("support", f"{path}: {what}")


def test_a_part_that_does_not_exist(spec, only) -> None:
    spec.dialects["ovms"]["fields"]["models"]["stream"] = "absent"
    only("support", "ovms.yaml models stream: there is no such part")
