"""Components that a system has in several forms."""

from support.tiny_document import object_of, ref, talk

from specvino.codegen.apart import join_same, take_apart

TEXT = {"type": "string"}
FULL, NOTED = {"level": "full"}, {"level": "full", "note": "Odd."}


def apart(document, **levels):
    take_apart(document, {name.replace("_", "."): entry for name, entry in levels.items()})
    return document["components"]["schemas"]


def target(schema, *path):
    for step in path:
        schema = schema[step]
    return schema["$ref"].rpartition("/")[2]


def part():
    return object_of(text=TEXT)


def test_what_is_said_alike_stays_one() -> None:
    document = talk(ask=object_of(one=ref("Part")), answer=object_of(two=ref("Part")), Part=part())
    schemas = apart(document, talk_one=FULL, talk_response_two=FULL)
    assert target(schemas["Answer"], "properties", "two") == "Part"
    assert "TalkResponsePart" not in schemas
    assert schemas["Part"] == part()


def test_what_is_said_otherwise_is_another() -> None:
    document = talk(ask=object_of(one=ref("Part"), two=ref("Part"), three=ref("Part")), Part=part())
    schemas = apart(document, talk_one_text=FULL, talk_two_text=NOTED, talk_three_text={"level": "partial"})
    assert [target(schemas["Ask"], "properties", name) for name in ("one", "two", "three")] == [
        "Part",
        "TalkPart",
        "TalkPart2",
    ]
    assert schemas["TalkPart"] == schemas["Part"] == part()


def test_what_leads_to_another_is_another() -> None:
    """Through unions, lists and what tells kinds apart."""
    union = {
        "oneOf": [ref("Part"), ref("Other")],
        "discriminator": {"propertyName": "text", "mapping": {"a": ref("Part")["$ref"], "b": ref("Other")["$ref"]}},
    }
    ask = object_of(one=ref("Union"), two={"type": "array", "items": ref("Union")})
    document = talk(ask=ask, Union=union, Part=part(), Other=object_of(n=TEXT))
    schemas = apart(document, **{"talk_one_text": FULL, "talk_two[]_text": NOTED})
    assert target(schemas["Ask"], "properties", "two", "items") == "TalkUnion"
    assert schemas["TalkUnion"]["oneOf"] == [ref("TalkPart"), ref("Other")]
    assert schemas["TalkUnion"]["discriminator"]["mapping"] == {"a": ref("TalkPart")["$ref"], "b": ref("Other")["$ref"]}


def test_where_it_never_is_counts_for_nothing() -> None:
    document = talk(ask=object_of(one=ref("Part")), answer=object_of(two=ref("Part")), Part=part())
    schemas = apart(document, talk_one={"level": "ignored"}, talk_one_text={"level": "ignored"}, talk_response_two=FULL)
    assert target(schemas["Answer"], "properties", "two") == "Part"


def test_events_have_what_the_answer_has() -> None:
    document = talk(
        ask=object_of(n=ref("Part")), answer=object_of(n=ref("Part")), event=object_of(n=ref("Part")), Part=part()
    )
    schemas = apart(document, talk_n_text=NOTED, talk_response_n_text=FULL)
    assert target(schemas["Event"], "properties", "n") == "TalkResponsePart"


def test_what_is_inside_itself_leads_to_the_first() -> None:
    tree = object_of(child=ref("Tree"), text=TEXT)
    schemas = apart(
        talk(ask=object_of(one=ref("Tree"), two=ref("Tree")), Tree=tree), talk_one_text=FULL, talk_two_text=NOTED
    )
    assert target(schemas["TalkTree"], "properties", "child") == "Tree"


def test_copies_that_have_become_the_same_are_joined() -> None:
    titled = part() | {"title": "Part"}
    outer = {
        "oneOf": [ref("One"), ref("Two")],
        "discriminator": {"propertyName": "t", "mapping": {"b": ref("Two")["$ref"]}},
    }
    document = talk(
        ask=object_of(a=ref("In"), b=ref("In2")),
        answer=outer,
        One=titled,
        Two=titled,
        In=object_of(p=ref("One")) | {"title": "In"},
        In2=object_of(p=ref("Two")) | {"title": "In"},
        Three=part(),
        Four=part(),
    )
    join_same(document)
    schemas = document["components"]["schemas"]
    assert [name for name in schemas if name in ("Two", "In2", "Three", "Four")] == ["Three", "Four"]
    assert target(schemas["Ask"], "properties", "b") == "In"
    assert schemas["Answer"]["discriminator"]["mapping"] == {"b": ref("One")["$ref"]}
