"""What tells the branches of a union apart."""

from support.tiny_document import kind, object_of, ref, talk

from specvino.codegen.emit.shapes import shapes

TEXT = {"type": "string"}


def tables(ask, **schemas):
    document = talk(ask=object_of(**ask), **schemas)
    return shapes(document, ["Ask", *schemas])


def test_an_object() -> None:
    objects, unions = tables({"tool": ref("Tool")}, Tool=kind("f", name=TEXT, mode={"enum": ["a", None]}))
    assert unions == {}
    assert objects["Tool"]["required"] == ["mode", "name", "type"]
    assert objects["Tool"]["values"] == {"type": ["f"], "mode": ["a", None]}
    assert objects["Ask"]["fields"]["tool"] == {"handling": "supported", "shape": "Tool", "supported_values": None}


def test_a_named_union_of_objects_and_others() -> None:
    union = {"anyOf": [TEXT, ref("F"), {"type": "null"}, ref("C")]}
    objects, unions = tables({"tools": {"type": "array", "items": ref("Tool")}}, Tool=union, F=kind("f"), C=kind("c"))
    assert objects["Ask"]["fields"]["tools"]["shape"] == "Tool"
    assert unions == {
        "Tool": {"branches": ("F", "C"), "select": "type", "variants": {"f": ("F",), "c": ("C",)}, "absent": ()}
    }


def test_branches_of_the_same_kind_are_tried_in_their_order() -> None:
    union = {"anyOf": [ref("Nested"), ref("Flat"), ref("Custom")]}
    parts = {"Nested": kind("f", function=TEXT), "Flat": kind("f", name=TEXT), "Custom": kind("c", custom=TEXT)}
    _, unions = tables({"tool": ref("Tool")}, Tool=union, **parts)
    assert unions["Tool"]["variants"] == {"f": ("Nested", "Flat"), "c": ("Custom",)}


def test_the_kind_may_be_left_out_or_open() -> None:
    easy = kind("m", role=TEXT) | {"required": ["role"]}
    union = {"anyOf": [ref("Easy"), ref("Call"), ref("Open")]}
    _, unions = tables({"item": ref("Item")}, Item=union, Easy=easy, Call=kind("c"), Open=object_of(type=TEXT))
    assert unions["Item"]["variants"] == {"m": ("Easy", "Open"), "c": ("Call", "Open")}
    assert unions["Item"]["absent"] == ("Easy", "Open")


def test_a_kind_that_may_be_null() -> None:
    item = {"type": {"enum": ["x", None]}}
    union = {"anyOf": [ref("X"), ref("Y")]}
    _, unions = tables({"item": ref("Item")}, Item=union, X=object_of(**item) | {"required": ["type"]}, Y=kind("y"))
    assert unions["Item"]["absent"] == ("X",)


def test_a_union_in_a_union() -> None:
    _, unions = tables(
        {"item": ref("Item")},
        Item={"anyOf": [ref("A"), ref("Others")]},
        Others={"oneOf": [ref("B"), ref("C")]},
        A=kind("a"),
        B=kind("b"),
        C=kind("c"),
    )
    assert unions["Item"]["branches"] == ("A", "B", "C")


def test_an_object_beside_a_list_of_others() -> None:
    choice = {"anyOf": [ref("A"), {"type": "array", "items": ref("B")}]}
    objects, unions = tables({"choice": choice}, A=object_of(a=TEXT), B=object_of(b=TEXT))
    assert objects["Ask"]["fields"]["choice"]["shape"] == "Ask.choice"
    assert unions["Ask.choice"] == {"branches": ("A", "B"), "select": None, "variants": {}, "absent": ("A", "B")}


def test_parts_of_an_object_that_stand_elsewhere() -> None:
    ask = {"allOf": [ref("Sampling")]} | object_of(model=TEXT)
    document = talk(ask=ask, Sampling=object_of(seed=TEXT) | {"required": ["seed"]})
    objects, _ = shapes(document, ["Ask"])
    assert list(objects["Ask"]["fields"]) == ["model", "seed"]
    assert objects["Ask"]["required"] == ["seed"]


def test_free_form_maps_have_no_shape() -> None:
    objects, _ = tables({"notes": {"type": "object", "additionalProperties": ref("A")}}, A=object_of(a=TEXT))
    assert objects["Ask"]["fields"]["notes"]["shape"] is None


def test_a_map_beside_an_object() -> None:
    choice = {"anyOf": [ref("A"), {"type": ["object", "null"]}]}
    objects, unions = tables({"choice": choice}, A=kind("a"))
    assert objects["Ask"]["fields"]["choice"]["shape"] == "Ask.choice"
    assert unions["Ask.choice"]["branches"] == ("A",)
    assert unions["Ask.choice"]["absent"] == ()
