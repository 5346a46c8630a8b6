"""The document as one system has it."""

import copy

import pytest
from support.tiny_document import dialect, kind, object_of, ref, talk

from specvino.codegen.project import MARKINGS, project
from specvino.document.loading import dialect_file, load, systems
from specvino.document.validator import Validators
from specvino.document.walk import objects

TEXT = {"type": "string"}


def projected(document, **parts):
    """The component schemas for a system that says this; of parts not given it has all."""
    whole = {"request": {}, "response": {}, "stream": {}} | parts
    return project(document, dialect(**whole))["components"]["schemas"]


def full(*paths, **others):
    return dict.fromkeys(paths, "full") | others


def partial(**more):
    return {"level": "partial", "note": "Odd.", **more}


@pytest.mark.parametrize("system", systems())
def test_real_ones_have_no_markings(system) -> None:
    """Nor do they have faults, which the lint finds; test_build.py has what is generated for what is made here."""
    for place, node in objects(load(dialect_file(system))):
        assert not node.keys() & set(MARKINGS), place


def test_no_system_has_query_parameters_of_this_project() -> None:
    document = talk()
    theirs = {"name": "limit", "in": "query", "schema": {"type": "integer"}, "x-origin": "openai"}
    ours = {"name": "dialect", "in": "query", "schema": TEXT, "x-origin": "specvino"}
    document["paths"]["/talk"]["post"]["parameters"] = [theirs, ours]
    left = project(document, dialect(request={}, response={}))["paths"]["/talk"]["post"]["parameters"]
    assert [parameter["name"] for parameter in left] == ["limit"]


@pytest.mark.parametrize(
    ("read", "names"), [([], ["id"]), (["limit"], ["id", "limit"]), (None, ["id", "limit", "order"])]
)
def test_query_parameters_are_those_that_a_system_reads(read, names) -> None:
    document = talk()
    document["paths"]["/talk"]["post"]["parameters"] = [
        {"name": name, "in": holder, "schema": TEXT, "x-origin": "openai"}
        for name, holder in (("id", "path"), ("limit", "query"), ("order", "query"))
    ]
    head = {} if read is None else {"parameters": {"talk": read}}
    left = project(document, dialect(request={}, response={}) | head)["paths"]["/talk"]["post"]["parameters"]
    assert [parameter["name"] for parameter in left] == names


def test_nothing_is_changed_in_place(small) -> None:
    before = copy.deepcopy(small.document)
    project(small.document, small.dialects["ovms"])
    assert small.document == before


@pytest.mark.parametrize(
    ("level", "kept"), [("ignored", []), ("refused", ["user"]), ("unknown", ["user"]), ("full", ["user"])]
)
def test_request_fields(level, kept) -> None:
    schemas = projected(talk(ask=object_of(user=TEXT)), request={"user": level})
    assert list(schemas["Ask"]["properties"]) == kept


@pytest.mark.parametrize(
    ("unknown", "user", "fitting"),
    [
        ("ignored", "ignored", ["x", 1, None]),
        ("ignored", "refused", []),
        ("ignored", {"level": "refused", "nullable": True, "note": "A 400."}, [None]),
        ("refused", "ignored", ["x", 1, None]),
        ("refused", "refused", []),
        ("refused", {"level": "refused", "nullable": True, "note": "A 400."}, [None]),
    ],
)
def test_values_of_fields_without_a_use(unknown, user, fitting) -> None:
    system = dialect(request={"user": user}, response={}) | {"unknown_fields": unknown}
    document = project(talk(ask=object_of(user=TEXT | {"description": "Who asks"})), system)
    check = Validators(document).of(ref("Ask"))
    assert [value for value in ("x", 1, None) if check.fits({"user": value})] == fitting
    if user not in ("ignored", "refused"):
        assert document["components"]["schemas"]["Ask"]["properties"]["user"]["description"] == "Who asks. A 400."


def test_a_refused_field_of_an_absent_type_is_not_refused_beside_others() -> None:
    ask = object_of(type={"enum": ["a", "b"]}, user=TEXT)
    rows = {"type": {"level": "partial", "note": "No b.", "schema": {"enum": ["a"]}}, "user": "refused"}
    assert list(projected(talk(ask=ask), request=rows)["Ask"]["properties"]) == ["type"]


def test_an_answer_s_field_that_is_absent() -> None:
    document = talk(answer=object_of(id=TEXT, at=TEXT) | {"required": ["id", "at"]})
    answer = projected(document, response={"id": "absent", "at": "full"})["Answer"]
    assert (list(answer["properties"]), answer["required"]) == (["at"], ["at"])


@pytest.mark.parametrize(
    ("entry", "required", "schema"),
    [
        ("full", True, TEXT),
        (partial(), False, TEXT),
        ("unknown", False, TEXT),
        (partial(schema={"type": "integer"}), True, {"type": "integer"}),
    ],
)
def test_what_an_answer_surely_has(entry, required, schema) -> None:
    document = talk(answer=object_of(id=TEXT | {"description": "The id"}) | {"required": ["id"]})
    answer = projected(document, response={"id": entry})["Answer"]
    assert ("id" in answer.get("required", ())) is required
    id = answer["properties"]["id"]
    assert id.pop("description") == ("The id. Odd." if isinstance(entry, dict) else "The id")
    assert id == schema | {"x-origin": "openai"}


def test_bounds_are_the_systems() -> None:
    document = talk(ask=object_of(n={"type": "integer", "minimum": 1, "maximum": 8, "not": {"const": 3}, "default": 2}))
    for entry, values in (
        ("full", {"type": "integer"}),
        (partial(schema={"type": ["integer", "null"], "minimum": 0}), {"type": ["integer", "null"], "minimum": 0}),
    ):
        n = projected(document, request={"n": entry})["Ask"]["properties"]["n"]
        assert {key: value for key, value in n.items() if key not in ("description", "x-origin")} == values


def test_null_is_among_the_values_in_some_kinds_of_object() -> None:
    texts = {"type": ["string", "null"]}
    document = talk(
        ask=object_of(turn={"anyOf": [ref("User"), ref("Tool")]}),
        User=kind("user", text=TEXT),
        Tool=kind("tool", text=texts),
    )
    rows = {"turn": "full", "turn.type": "full", "turn.text": {"level": "full", "nullable": ["user"]}}
    schemas = projected(document, request=rows)
    types = [schemas[name]["properties"]["text"]["type"] for name in ("User", "Tool")]
    assert types == [["string", "null"], "string"]


def test_a_field_of_some_kinds_of_object() -> None:
    document = talk(
        ask=object_of(turn={"anyOf": [ref("User"), ref("Tool")]}),
        User=kind("user", text=TEXT),
        Tool=kind("tool", text=TEXT),
    )
    rows = {"turn": "full", "turn.type": "full", "turn.text": {"level": "full", "kinds": ["user"]}}
    schemas = projected(document, request=rows)
    assert [schemas[name]["properties"].keys() for name in ("User", "Tool")] == [{"type", "text"}, {"type"}]


def test_rules_between_fields_are_the_systems() -> None:
    rule = {"if": {"required": ["a"]}, "then": {"required": ["b"]}}
    document = talk(ask=object_of(a=TEXT, b=TEXT) | {"allOf": [rule]})
    system = dialect(request=full("a", "b"), response={})
    assert "allOf" not in project(document, system)["components"]["schemas"]["Ask"]
    projected = project(document, system | {"rules": {"talk": [rule]}})
    assert projected["components"]["schemas"]["Ask"]["allOf"] == [rule]


def test_a_system_has_schemas_of_its_own() -> None:
    tree = {"title": "Tree", "type": "object", "properties": {"left": ref("Tree")}}
    row = {"level": "full", "schema": ref("Tree")}
    document = talk(ask=object_of(a={"type": "object"}))
    system = dialect(request={"a": row}, response={})
    schemas = project(document, system | {"schemas": {"Tree": tree, "Bush": tree}})["components"]["schemas"]
    assert schemas["Ask"]["properties"]["a"]["$ref"] == ref("Tree")["$ref"]
    assert schemas["Tree"] == tree
    assert "Bush" not in schemas  # nothing refers to it


TOOLS = talk(
    ask=object_of(tools={"type": "array", "items": ref("Tool")}, name=TEXT),
    Tool={
        "title": "Tool",
        "description": "A tool.",
        "oneOf": [ref("Function"), ref("Custom"), ref("Search")],
        "discriminator": {
            "propertyName": "type",
            "mapping": {"f": ref("Function")["$ref"], "c": ref("Custom")["$ref"], "s": ref("Search")["$ref"]},
        },
    },
    Function=kind("f", function=TEXT),
    Custom=kind("c", custom=TEXT, name=TEXT),
    Search=kind("s"),
)


def tools(**rows):
    paths = full("tools", "name", *(f"tools[].{name}" for name in ("type", "function", "custom", "name")))
    return projected(TOOLS, request=paths | {f"tools[].{name}": entry for name, entry in rows.items()})


def test_a_branch_whose_required_field_is_refused_is_gone() -> None:
    schemas = tools(custom="refused")
    assert "Custom" not in schemas
    assert schemas["Tool"]["oneOf"] == [ref("Function"), ref("Search")]
    assert schemas["Tool"]["discriminator"]["mapping"] == {"f": ref("Function")["$ref"], "s": ref("Search")["$ref"]}


def test_a_branch_stays_while_something_required_is_left() -> None:
    schemas = tools(custom="ignored")
    assert schemas["Custom"]["required"] == ["type", "name"]
    assert "Custom" not in tools(custom="ignored", name="ignored")


def test_a_branch_that_a_system_lists_stays_with_its_type_alone() -> None:
    listed = partial(schema={"enum": ["f", "c"]})
    assert tools(type=listed, custom="ignored", name="ignored")["Custom"]["required"] == ["type"]
    assert "Custom" not in tools(type=listed, custom="refused", name="ignored")


def test_an_answer_without_one_of_its_fields_is_still_one() -> None:
    document = talk(
        event={"anyOf": [ref("Chunk"), ref("ErrorResponse")]},
        Chunk=object_of(id=TEXT, text=TEXT) | {"required": ["id", "text"]},
    )
    schemas = projected(document, stream={"id": "absent", "text": "full"})
    assert schemas["Event"]["anyOf"] == [ref("Chunk"), ref("ErrorResponse")]
    assert schemas["Chunk"]["required"] == ["text"]


def test_the_kinds_that_a_system_has() -> None:
    schemas = tools(type=partial(schema={"enum": ["f", "c"]}))
    assert schemas["Tool"]["oneOf"] == [ref("Function"), ref("Custom")]
    assert schemas["Function"]["properties"]["type"]["const"] == "f"
    assert "enum" not in schemas["Function"]["properties"]["type"]


def test_the_kinds_of_a_branch_that_has_several() -> None:
    hosted = object_of(type={"enum": ["h1", "h2"]})
    document = talk(
        event={"anyOf": [ref("Begin"), ref("Text"), ref("Hosted")]}, Begin=kind("b"), Text=kind("t"), Hosted=hosted
    )
    for kinds, left, branches in (
        (["t", "h2"], ["h2"], [ref("Text"), ref("Hosted")]),
        (["b", "t"], None, [ref("Begin"), ref("Text")]),
    ):
        schemas = projected(document, stream={"type": partial(schema={"enum": kinds})})
        assert schemas["Event"]["anyOf"] == branches
        assert schemas.get("Hosted", hosted)["properties"]["type"]["enum"] == (left or ["h1", "h2"])


def test_the_kinds_that_a_system_sends() -> None:
    document = talk(
        event={"anyOf": [ref("Begin"), ref("Text"), ref("End")]}, Begin=kind("b"), Text=kind("t"), End=kind("e")
    )
    schemas = projected(document, stream={"type": partial(schema={"enum": ["t", "e"]})})
    assert schemas["Event"]["anyOf"] == [ref("Text"), ref("End")]
    assert schemas["Text"]["properties"]["type"]["const"] == "t"


def test_a_union_of_one_branch_becomes_the_branch() -> None:
    schemas = tools(type=partial(schema={"const": "f"}))
    assert "Tool" not in schemas
    assert schemas["Ask"]["properties"]["tools"]["items"] == ref("Function")


def test_an_inline_union_of_one_branch_becomes_the_branch() -> None:
    document = talk(
        ask=object_of(choice={"anyOf": [{"enum": ["auto"], "title": "Mode"}, ref("Named")], "description": "Which."}),
        Named=kind("n", name=TEXT),
    )
    rows = full("choice", "choice.type", **{"choice.name": "refused"})
    choice = projected(document, request=rows)["Ask"]["properties"]["choice"]
    assert choice == {"enum": ["auto"], "title": "Mode", "description": "Which.", "x-origin": "openai"}


def test_a_const_that_tells_nothing_apart_is_replaced() -> None:
    document = talk(answer=object_of(owner={"const": "us"}) | {"required": ["owner"]})
    answer = projected(document, response={"owner": partial(schema=TEXT)})["Answer"]
    assert answer["properties"]["owner"] == {"description": "Odd.", "x-origin": "openai"} | TEXT


SHARED = talk(ask=object_of(one=ref("Part")), answer=object_of(two=ref("Part")), Part=object_of(text=TEXT, id=TEXT))


def test_an_object_that_is_several_things_is_each_of_them() -> None:
    integer = {"level": "full", "schema": {"type": "integer"}}
    request = {"one": "full", "one.id": integer, "one.text": "ignored"}
    schemas = projected(
        SHARED, request=request, response={"two": "full", "two.text": {"level": "full", "note": "Odd."}}
    )
    assert schemas["Ask"]["properties"]["one"]["$ref"] == ref("Part")["$ref"]
    assert schemas["Answer"]["properties"]["two"]["$ref"] == ref("TalkResponsePart")["$ref"]
    assert schemas["Part"]["properties"] == {"id": {"x-origin": "openai", "type": "integer"}}
    assert schemas["TalkResponsePart"]["properties"]["id"] == {"x-origin": "openai"} | TEXT
    assert schemas["TalkResponsePart"]["properties"]["text"]["description"] == "Odd."


def test_an_object_of_which_the_same_is_said_is_one() -> None:
    entry = {"level": "full", "schema": {"type": "integer"}, "note": "Same."}
    schemas = projected(SHARED, request={"one": "full", "one.id": entry}, response={"two": "full", "two.id": entry})
    assert schemas.keys() == {"Ask", "Answer", "Part"}


def test_what_is_written_out_is_as_it_is_elsewhere() -> None:
    part = object_of(id=TEXT) | {"type": ["object", "null"]}
    rows = {"part": {"level": "full", "nullable": False}, "part.id": {"level": "full", "required": True}}
    ask = projected(talk(ask=object_of(part=ref("Part")), Part=part), request=rows)["Ask"]
    assert ask["properties"]["part"]["type"] == "object"
    assert ask["properties"]["part"]["required"] == ["id"]


def test_what_is_inside_a_missing_field_says_nothing_of_where_else_it_is() -> None:
    always = {"two": "full", "two.id": {"level": "full", "required": True}}
    part = projected(SHARED, request={"one": "ignored"}, response=always)["Part"]
    assert part["required"] == ["id"]


@pytest.mark.parametrize("lacking", ["absent", partial(schema={"type": "null"})])
def test_nothing_follows_from_a_place_where_the_object_never_is(lacking) -> None:
    call = object_of(name=TEXT) | {"required": ["name"]}
    document = talk(answer=object_of(call=ref("Call"), old=ref("Call")), Call=call)
    rows = full("call", old=lacking) if lacking == "absent" else full("call", old=lacking, **{"old.name": "absent"})
    assert projected(document, response=rows)["Call"]["required"] == ["name"]


def test_examples_that_do_not_fit_are_gone() -> None:
    ask = object_of(n={"type": "integer"}, user=TEXT) | {"examples": [{"n": 1}, {"n": 2}, {"user": "u"}]}
    document = talk(ask=ask)
    body = document["paths"]["/talk"]["post"]["requestBody"]["content"]["application/json"]
    body["examples"] = {"right": {"value": {"n": 1}}, "wrong": {"value": {"n": 2}}, "unknown": {"value": {"user": "u"}}}
    rows = {"n": {"level": "full", "schema": {"type": "integer", "maximum": 1}}, "user": "ignored"}
    projected = project(document, dialect(request=rows, response={}))
    assert projected["components"]["schemas"]["Ask"]["examples"] == [{"n": 1}]
    post = projected["paths"]["/talk"]["post"]
    assert list(post["requestBody"]["content"]["application/json"]["examples"]) == ["right"]


def test_an_endpoint_at_the_root() -> None:
    system = dialect(request={}, response={}) | {"at_root": ["talk"]}
    assert project(talk(), system)["paths"]["/talk"]["post"]["servers"] == [{"url": "/"}]


def test_endpoints_that_a_system_is_without_are_gone(real) -> None:
    document = project(real.document, real.dialects["openai"])
    assert "/health" not in document["paths"]
    assert "Health" not in document["components"]["schemas"]
    assert "Service" not in [tag["name"] for tag in document["tags"]]


@pytest.mark.parametrize(
    ("rows", "left"), [({"stream": "absent"}, {"application/json"}), ({"response": "absent"}, {"text/event-stream"})]
)
def test_parts_that_a_system_is_without_are_gone(rows, left) -> None:
    document = talk(answer=object_of(id=TEXT), event=object_of(text=TEXT))
    projected = project(document, dialect(**{"request": {}, "response": full("id"), "stream": full("text")} | rows))
    content = projected["paths"]["/talk"]["post"]["responses"]["200"]["content"]
    assert content.keys() == left


def test_the_stream_of_unary_answers_goes_by_name_only() -> None:
    document = talk(answer=object_of(id=TEXT), event={"anyOf": [ref("Answer"), ref("ErrorResponse")]})
    content = project(document, dialect(response=full("id"), stream={}))["paths"]["/talk"]["post"]["responses"]["200"]
    assert "text/event-stream" in content["content"]
    content = project(document, dialect(response=full("id"), stream="absent"))["paths"]["/talk"]["post"]["responses"]
    assert "text/event-stream" not in content["200"]["content"]


@pytest.mark.parametrize(
    ("form", "properties"),
    [
        ("full", {"error": {"$ref": ref("Error")["$ref"], "x-origin": "openai"}}),
        (partial(schema=TEXT), {"error": {"type": "string", "x-origin": "openai", "description": "Odd."}}),
        ("absent", {}),
    ],
)
def test_the_form_of_errors(form, properties) -> None:
    document = talk(event={"anyOf": [ref("Chunk"), ref("ErrorResponse")]}, Chunk=object_of(text=TEXT))
    whole = dialect(request={}, response={}, stream=full("text"), error=form)
    assert project(document, whole)["components"]["schemas"]["ErrorResponse"]["properties"] == properties


def test_the_head() -> None:
    document = talk()
    document["paths"]["/talk"]["post"]["x-served-at-root"] = True
    projected = project(document, dialect(request={}, response={}))
    assert projected["info"]["title"] == "The OpenAI-compatible API of Odd"
    assert projected["servers"] == [{"url": "/odd"}]
    assert projected["openapi"].startswith("3.1")
    assert projected["paths"]["/talk"]["post"]["servers"] == [{"url": "/"}], "it stands beside the base paths"


def test_a_service_is_named_in_the_head() -> None:
    hosted = {"url": "https://api.odd.test/v1", "key": "ODD_API_KEY", "model": "odd"}
    system = dialect(request={}, response={})
    assert "hosted" not in project(talk(), system)["x-dialect"]
    assert project(talk(), system | {"hosted": hosted})["x-dialect"]["hosted"] == hosted
