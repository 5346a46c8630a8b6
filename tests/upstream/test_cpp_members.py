"""Functions in C++ that read a request's members by name, as OVMS writes them."""

import pytest

from specvino.upstream.cpp_members import Members
from specvino.upstream.described import Unreadable

FILE = "handler.cpp"

PLAIN = """
constexpr size_t MOST = 4;  // in a list

Status Handler::parse(std::optional<uint32_t> limit) {
    // early: FindMember("nothing")
    auto it = doc.FindMember("word");
    if (it == doc.MemberEnd())
        return absl::InvalidArgumentError("word (a text) is missing");
    if (!it->value.IsString()) {
        return absl::InvalidArgumentError("word is not a string");
    } else {
        request.word = it->value.GetString();
    }
    if (request.word.value().empty())
        return absl::InvalidArgumentError("word is empty");
    it = doc.FindMember("share");
    if (it != doc.MemberEnd() && !it->value.IsNull()) {
        if (!it->value.IsDouble() && !it->value.IsInt())
            return absl::InvalidArgumentError("share is not a number");
        request.share = it->value.GetDouble();
        if (request.share < -2.0f || request.share >= 2.0f)
            return absl::InvalidArgumentError("share out of range");
    }
    it = doc.FindMember("size");
    if (it != doc.MemberEnd()) {
        if (!it->value.IsUint()) {
            if (it->value.IsUint64())
                return absl::InvalidArgumentError("size is too large");
            return absl::InvalidArgumentError("size is not an unsigned integer");
        }
        if (limit.has_value() && it->value.GetUint() > limit.value())
            return absl::InvalidArgumentError("size exceeds the limit");
        if (it->value.GetUint() == 0)
            return absl::InvalidArgumentError("size is 0");
    }
    it = doc.FindMember("stop");
    if (it != doc.MemberEnd() && !it->value.IsNull()) {
        if (it->value.IsString()) {
            request.stop = {it->value.GetString()};
        } else if (it->value.IsArray()) {
            auto stops = it->value.GetArray();
            if (stops.Size() > MOST) {
                return absl::InvalidArgumentError("too many");
            }
            for (size_t i = 0; i < stops.Size(); i++) {
                const auto& element = stops[i];
                if (!element.IsString())
                    return absl::InvalidArgumentError("no string");
            }
        } else {
            return absl::InvalidArgumentError("no list");
        }
    }
    it = doc.FindMember("side");
    if (it != doc.MemberEnd()) {
        if (it->value.IsNull()) {
            request.side = "left";
        } else if (!it->value.IsString()) {
            return absl::InvalidArgumentError("side is not a string");
        }
        const std::string side = it->value.GetString();
        if (side != "left" && side != "right")
            return absl::InvalidArgumentError("side is neither");
    }
    auto countIt = doc.FindMember("count");
    bool hasCount = (countIt != doc.MemberEnd() && !countIt->value.IsNull());
    if (hasCount)
        request.count = countIt->value.GetInt();
    auto voiceIt = doc.FindMember("voice");
    if (voiceIt != doc.MemberEnd() && voiceIt->value.IsString())
        request.voice = voiceIt->value.GetString();
    if (doc.FindMember("options") != doc.MemberEnd()) {
        return absl::InvalidArgumentError("options are not supported");
    }
    if (endpoint != Endpoint::OTHER) {
        it = doc.FindMember("here");
        if (it != doc.MemberEnd() && !it->value.IsBool())
            return absl::InvalidArgumentError("here is not a bool");
    }
    if (endpoint == Endpoint::OTHER) {
        it = doc.FindMember("there");
    }
    return absl::OkStatus();
}
"""

INT32 = {"minimum": -(2**31), "maximum": 2**31 - 1}


def read(text, *functions, endpoint="TALK", variables=None):
    members = Members({FILE: text}, endpoint, {"isJson": True, "isForm": False})
    for function in functions:
        members.read(FILE, function, variables or {"doc": ""})
    return members.schema()


def test_types_bounds_and_absence() -> None:
    schema = read(PLAIN, "parse")
    assert (schema["type"], schema["required"]) == ("object", ["word"])
    assert schema["properties"] == {
        "word": {"type": "string", "minLength": 1},
        "share": {"type": ["null", "number"], "minimum": -2.0, "exclusiveMaximum": 2.0},
        "size": {"type": "integer", "minimum": 0, "maximum": 2**32 - 1, "not": {"const": 0}},
        "stop": {"type": ["array", "null", "string"], "maxItems": 4, "items": {"type": "string"}},
        "side": {"type": ["null", "string"], "enum": ["left", "right", None]},
        "count": {"type": ["integer", "null"], **INT32},
        "voice": {},
        "options": {"not": {}},
        "here": {"type": "boolean"},
    }


def test_another_endpoint() -> None:
    assert {"here", "there"} & read(PLAIN, "parse", endpoint="OTHER")["properties"].keys() == {"there"}


def test_a_changed_name_or_type_is_read() -> None:
    plain = read(PLAIN, "parse")["properties"]
    renamed = read(PLAIN.replace('"share"', '"part"'), "parse")["properties"]
    assert (renamed.keys() - plain.keys(), plain.keys() - renamed.keys()) == ({"part"}, {"share"})
    retyped = read(PLAIN.replace("value.IsBool()", "value.IsArray()"), "parse")["properties"]
    assert {name for name in plain if plain[name] != retyped[name]} == {"here"}
    bounded = read(PLAIN.replace("-2.0f", "-1.5f").replace("MOST = 4", "MOST = 5"), "parse")["properties"]
    assert {name for name in plain if plain[name] != bounded[name]} == {"share", "stop"}


TWICE = """
Status first(Document* doc) {
    auto it = doc->FindMember("stream");
    if (it != doc->MemberEnd()) {
        if (!it->value.IsBool()) {
            return Status(StatusCode::JSON_INVALID, "not a boolean");
        }
    }
}
Status second(Document& doc) {
    auto it = doc.FindMember("stream");
    if (it != doc.MemberEnd() && !it->value.IsNull()) {
        if (!it->value.IsBool())
            return absl::InvalidArgumentError("not a boolean");
    }
}
"""


def test_null_that_an_earlier_function_rejects() -> None:
    assert read(TWICE, "first", "second")["properties"]["stream"] == {"type": "boolean"}
    assert read(TWICE, "second")["properties"]["stream"] == {"type": ["boolean", "null"]}


KINDS = """
absl::Status parse() {
    auto it = doc.FindMember("messages");
    if (!it->value.IsArray())
        return absl::InvalidArgumentError("no list");
    if (it->value.GetArray().Size() == 0)
        return absl::InvalidArgumentError("empty");
    for (size_t i = 0; i < it->value.GetArray().Size(); i++) {
        auto& obj = it->value.GetArray()[i];
        if (!obj.IsObject())
            return absl::InvalidArgumentError("no object");
        for (auto member = obj.MemberBegin(); member != obj.MemberEnd(); member++) {
            std::string memberName = member->name.GetString();
            if (member->value.IsString() && (memberName == "role" || memberName == "name")) {
                continue;
            }
            if (memberName == "content" && member->value.IsArray()) {
                for (const auto& v : member->value.GetArray()) {
                    const auto entry = v.GetObject();
                    if (!entry.HasMember("type") || !entry["type"].IsString()) {
                        return absl::InvalidArgumentError("no type");
                    }
                    const std::string entryType = entry["type"].GetString();
                    if (entryType == "text" || entryType == "words") {
                        if (!entry.HasMember("text") || !entry["text"].IsString()) {
                            return absl::InvalidArgumentError("no text");
                        }
                    } else if (entryType == "image") {
                        if (!entry.HasMember("image") || !entry["image"].IsObject()) {
                            return absl::InvalidArgumentError("no image");
                        }
                    } else {
                        return absl::InvalidArgumentError("unsupported");
                    }
                }
            }
        }
        if (!last.contains("role")) {
            return absl::InvalidArgumentError("no role");
        }
    }
}

absl::Status item(const Value& obj) {
    auto functionIt = obj.FindMember("function");
    if (functionIt != obj.MemberEnd()) {
        if (!functionIt->value.IsObject())
            return absl::InvalidArgumentError("no object");
    } else {
        auto typeIt = obj.FindMember("type");
        if (typeIt == obj.MemberEnd() || !typeIt->value.IsString()) {
            return absl::InvalidArgumentError("no type");
        }
        if (std::string(typeIt->value.GetString()) != "function") {
            return absl::InvalidArgumentError("no function");
        }
    }
}

absl::Status call(const Object& obj) {
    auto nameIt = obj.FindMember("name");
    if (nameIt == obj.MemberEnd())
        return absl::InvalidArgumentError("no name");
    if (nameIt->value.IsString()) {
        return absl::OkStatus();
    }
    if (!nameIt->value.IsArray())
        return absl::InvalidArgumentError("no list");
}
"""
TEXT = {"properties": {"text": {"type": "string"}}, "required": ["text", "type"]}


def of_kind(kind, schema):
    return {**schema, "properties": {**schema["properties"], "type": {"const": kind}}}


def test_objects_inside_of_lists() -> None:
    messages = read(KINDS, "parse", variables={"doc": "", "last": "messages[]"})["properties"]["messages"]
    assert (messages["type"], messages["minItems"], messages["items"]["required"]) == ("array", 1, ["role"])
    assert messages["items"]["properties"].keys() == {"role", "name", "content"}
    image = {"properties": {"image": {"type": "object"}}, "required": ["image", "type"]}
    assert messages["items"]["properties"]["content"]["items"] == {
        "properties": {"type": {"type": "string", "enum": ["text", "words", "image"]}},
        "required": ["type"],
        "anyOf": [of_kind("text", TEXT), of_kind("words", TEXT), of_kind("image", image)],
    }


def test_members_of_objects_that_lack_another() -> None:
    items = read(KINDS, "item", variables={"obj": "tools[]"})["properties"]["tools"]["items"]
    other, own = items["anyOf"]
    assert items["properties"] == {"function": {"type": "object"}}
    assert own == {"required": ["function"]}
    assert (other["required"], other["properties"]["type"]["enum"]) == (["type"], ["function"])


def test_a_kind_that_the_table_names() -> None:
    items = read(KINDS, "call", variables={"obj": "items[] type=call"})["properties"]["items"]["items"]
    assert items["anyOf"] == [
        of_kind("call", {"properties": {"name": {"type": ["array", "string"]}}, "required": ["name", "type"]})
    ]


def test_a_function_that_is_not_there() -> None:
    with pytest.raises(Unreadable, match=r"handler\.cpp has no function parseNothing"):
        read(PLAIN, "parseNothing")


ODD = """
void parse() {
    if (auto it = doc.FindMember("inside"); it != doc.MemberEnd()) {
        read(it);
    }
    read(doc.FindMember("argument"));
    auto chosen = flag ? doc.FindMember("one") : doc.FindMember("other");
    auto named = doc.FindMember(field.c_str());
    auto it = doc.FindMember("word");
    if (it->value.IsString())
        request.word = it->value.GetString();
    if (endpoint == Endpoint::OTHER) {
        read(doc.FindMember("elsewhere"));
    }
}

void raw() {
    auto text = R"(a "quote)";
}
"""


def test_members_that_are_read_in_another_form_are_named() -> None:
    members = Members({FILE: ODD}, "CHAT", {})
    members.read(FILE, "parse", {"doc": ""})
    assert members.schema()["properties"].keys() == {"word"}
    assert members.unread == {"inside", "argument", "one", "other", "field.c_str"}


def test_a_raw_string() -> None:
    with pytest.raises(Unreadable, match=r"handler\.cpp: raw has a raw string"):
        read(ODD, "raw")


@pytest.mark.parametrize("errors", ["x < 1 || x < 0 || x > 5 || x > 9", "x < 0 || x < 1 || x > 9 || x > 5"])
def test_of_two_bounds_the_tighter_one_counts(errors) -> None:
    body = errors.replace("x", "it->value.GetInt()")
    function = f'auto it = doc.FindMember("size"); if ({body}) return absl::InvalidArgumentError("size");'
    size = read(f"void parse() {{ {function} }}", "parse")["properties"]["size"]
    assert (size["minimum"], size["maximum"]) == (1, 5)


CONDITIONAL = """
void parse() {
    auto it = doc.FindMember("word");
    if (isForm) {
        return absl::InvalidArgumentError("a form");
    } else if (isJson) {
        if (it == doc.MemberEnd() || !it->value.IsString()) return absl::InvalidArgumentError("word");
    } else {
        it = doc.FindMember("path");
        if (it == doc.MemberEnd()) return absl::InvalidArgumentError("path");
    }
    auto size = doc.FindMember("size");
    if (isLarge) {
        if (size == doc.MemberEnd()) return absl::InvalidArgumentError("size");
    }
    auto share = doc.FindMember("share");
    if (share != doc.MemberEnd()) {
        if (size != doc.MemberEnd()) {
            if (share->value.GetInt() > 9) return absl::InvalidArgumentError("both");
        }
        if (share->value.GetInt() < 1) return absl::InvalidArgumentError("share");
    }
}
"""


def test_an_error_under_a_condition_about_something_else() -> None:
    members = Members({FILE: CONDITIONAL}, "", {"isJson": True, "isForm": False})
    members.read(FILE, "parse", {"doc": ""})
    schema = members.schema()
    assert schema["required"] == ["word"]
    assert schema["properties"].keys() == {"word", "size", "share"}
    assert schema["properties"]["share"] == {"minimum": 1}
    assert members.conditional == {"size", "share"}


@pytest.mark.parametrize(
    "branches",
    [
        "if (isLarge) { run(); } else if (size == doc.MemberEnd()) { ERROR }",
        "if (isLarge) { run(); } else if (size != doc.MemberEnd() && size->value.IsInt()) { run(); } else { ERROR }",
    ],
)
def test_an_error_after_a_branch_about_something_else(branches) -> None:
    text = f'auto size = doc.FindMember("size"); {branches}'.replace(
        "ERROR", 'return absl::InvalidArgumentError("size");'
    )
    members = Members({FILE: f"void parse() {{ {text} }}"}, "", {})
    members.read(FILE, "parse", {"doc": ""})
    assert members.schema() == {"type": "object", "properties": {"size": {}}}
    assert members.conditional == {"size"}


def test_a_comment_beside_a_quotation_mark_as_a_character() -> None:
    text = """void parse() {
        char quote = '"';  // it's "usual
        auto it = doc.FindMember("size");
        if (it == doc.MemberEnd()) return absl::InvalidArgumentError("size");
    }"""
    assert read(text, "parse")["required"] == ["size"]
