"""Go structs, as they are written for encoding/json."""

import pytest

from specvino.upstream.annotations import UNREAD
from specvino.upstream.described import Unreadable
from specvino.upstream.go_structs import Structs

CHAT = """
package chat

// Request is a text about `json:"nothing"`.
type Request struct {
	Model string `json:"model"`
	// of the answer
	Size  *int      `json:"size,omitempty"`
	Parts []Part    `json:"parts"`
	Calls []struct {
		ID   string `json:"id"`
		More map[string]any `json:"more"`
	} `json:"calls"`
	Local string `json:"-"`
	Call struct {
		ID string `json:"id"`
	} `json:"call"`
	Tools tools.List `json:"tools"`
	Own   Own        `json:"own"`
	Raw   json.RawMessage `json:"raw"`
	Next  *Request `json:"next"`
	hidden bool
}

type Answer struct {
	Part
	*Word2
	tools.Time
	ID string `json:"id"`
}

type Word2 struct {
	Text string `json:"text"`
}

type Part struct {
	Share float64 `json:"share"`
	Word  Word    `json:"word"`
}

type Word string

type Own struct {
	X int `json:"x"`
}

func (o *Own) UnmarshalJSON(data []byte) error { return nil }

type Turn struct {
	Role string `json:"role"`
	Image Bytes `json:"image"`
	tools.List `json:"list,omitempty"`
	Options map[string]any `json:"options"`
}

type Bytes []byte

func (t *Turn) UnmarshalJSON(data []byte) error {
	type Alias Turn
	var a Alias
	return json.Unmarshal(data, &a)
}

type Settings struct {
	Inner
	Stop []string `json:"stop"`
	Heat float32  `json:"heat"`
}

type Inner struct {
	Size  int   `json:"size"`
	Empty *bool `json:"empty"`
}
"""

TOOLS = """
type List []Tool
type Tool struct {
	Name string `json:"name"`
	At   Time   `json:"at"`
}
"""
NULL = {"type": "null"}
INTEGER = {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}


def nullable(**schema):
    return {"anyOf": [schema, NULL]}


@pytest.fixture
def structs(tmp_path) -> Structs:
    for package, text in (("chat", CHAT), ("tools", TOOLS)):
        (tmp_path / package).mkdir()
        (tmp_path / package / "types.go").write_text(text)
    return Structs(tmp_path, {"chat": "chat", "tools": "tools"}, {"chat.Turn.options": "chat.Settings"})


def test_places(structs) -> None:
    structs.named("chat.Request")
    (file,) = structs.places["#/$defs/taken/chat.Request"]
    assert file == "chat/types.go"
    assert structs.places["#/$defs/taken/chat.Request"][file]["size"].startswith("8 ")
    assert structs.places["#/$defs/taken/chat.RequestCall"] == {}, "a struct within a struct has no lines of its own"


def test_members_of_a_struct(structs) -> None:
    assert structs.named("chat.Request") == {"$ref": "#/$defs/taken/chat.Request"}
    found = structs.schemas["chat.Request"]["properties"]
    assert found["model"] == nullable(type="string")
    assert found["size"] == {"anyOf": [INTEGER, NULL]}
    part = nullable(**{"$ref": "#/$defs/taken/chat.Part"})
    assert found["parts"] == nullable(type="array", items=part)
    assert found["call"] == nullable(**{"$ref": "#/$defs/taken/chat.RequestCall"})
    assert found["raw"] == {}
    assert found["own"] == {UNREAD: "chat.Own"}
    assert found["next"] == nullable(**{"$ref": "#/$defs/taken/chat.Request"})
    calls = nullable(**{"$ref": "#/$defs/taken/chat.RequestCalls"})
    assert found["calls"] == nullable(type="array", items=calls)
    assert structs.schemas["chat.RequestCalls"]["properties"].keys() == {"id", "more"}
    assert found.keys() == {"model", "size", "parts", "calls", "call", "tools", "own", "raw", "next"}
    assert structs.schemas["chat.RequestCall"]["properties"] == {"id": nullable(type="string")}
    assert structs.schemas["chat.Part"]["properties"] == {
        "share": nullable(type="number"),
        "word": nullable(type="string"),
    }


def test_a_method_that_reads_the_same_fields(structs) -> None:
    structs.named("chat.Turn")
    found = structs.schemas["chat.Turn"]["properties"]
    assert found["role"] == nullable(type="string")
    assert found["image"] == nullable(type="string"), "bytes are written in base64"
    assert "chat.Turn" not in structs.unread


def test_an_embedded_type_with_a_name(structs) -> None:
    structs.named("chat.Turn")
    found = structs.schemas["chat.Turn"]["properties"]["list"]
    assert found["anyOf"][0]["type"] == "array"


def test_a_map_that_a_struct_is_built_of(structs) -> None:
    structs.named("chat.Turn")
    assert structs.schemas["chat.Turn"]["properties"]["options"] == nullable(**{"$ref": "#/$defs/taken/chat.Settings"})
    assert structs.schemas["chat.Settings"]["properties"] == {
        "size": nullable(type="number"),
        "empty": nullable(type="boolean"),
        "stop": nullable(type="array", items={"type": "string"}),
        "heat": nullable(type="number"),
    }


def test_types_of_another_package(structs) -> None:
    structs.named("chat.Request")
    tools = structs.schemas["chat.Request"]["properties"]["tools"]
    assert tools == nullable(type="array", items=nullable(**{"$ref": "#/$defs/taken/tools.Tool"}))
    assert structs.schemas["tools.Tool"]["properties"]["at"] == {UNREAD: "tools.Time"}
    assert structs.unread == {"chat.Own", "tools.Time"}


def test_a_struct_that_is_not_there(structs) -> None:
    with pytest.raises(Unreadable, match=r"no struct chat\.Nothing"):
        structs.named("chat.Nothing")


def test_a_struct_has_the_fields_of_embedded_ones(structs) -> None:
    structs.named("chat.Answer")
    schema = structs.schemas["chat.Answer"]
    assert schema["properties"].keys() == {"share", "word", "text", "id"}
    assert structs.places["#/$defs/taken/chat.Answer"]["chat/types.go"].keys() == {"share", "word", "text", "id"}
    assert schema[UNREAD] == "tools.Time", "it may have further fields"
    assert structs.unread == {"tools.Time"}
