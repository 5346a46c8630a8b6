"""Many files become one document with components."""

import textwrap

import pytest

from specvino.codegen.source import Bundler, SpecError


@pytest.fixture
def bundle(tmp_path):
    """Writes files, by name, and bundles from openapi.yaml."""

    def run(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.yaml").write_text(textwrap.dedent(text))
        return Bundler(tmp_path / "openapi.yaml")

    return run


def root(schema, **more):
    extra = "".join(f"\n  {key}: {value}" for key, value in more.items())
    return f"paths:\n  /a: {{get: {{schema: {schema}}}}}{extra}\n"


def test_references_become_components(bundle) -> None:
    document = bundle(
        openapi=root("{$ref: 'a.yaml#/A'}"),
        a="""
            A: {properties: {b: {$ref: 'b.yaml#/B'}, self: {$ref: '#/A'}}}
            """,
        b="B: {type: string}",
    ).run()
    assert document["paths"]["/a"]["get"]["schema"] == {"$ref": "#/components/schemas/A"}
    assert document["components"]["schemas"] == {
        "A": {"properties": {"b": {"$ref": "#/components/schemas/B"}, "self": {"$ref": "#/components/schemas/A"}}},
        "B": {"type": "string"},
    }


def test_the_table_of_a_stream_is_written_out_where_it_is_referred_to(bundle) -> None:
    bundler = bundle(
        openapi="paths:\n  /a: {get: {x-stream: {$ref: t.yaml}}, post: {x-stream: {$ref: t.yaml}}}\n",
        t="framing: event",
    )
    methods = bundler.run()["paths"]["/a"]
    assert methods["get"]["x-stream"] == methods["post"]["x-stream"] == {"framing": "event"}
    assert bundler.unused() == []


@pytest.mark.parametrize("table", ["null", "[$ref]", "a $ref"])
def test_a_table_that_is_no_object_stays_for_the_lint(bundle, table) -> None:
    document = bundle(openapi=f"paths:\n  /a: {{get: {{x-stream: {table}}}}}\n").run()
    assert document["paths"]["/a"]["get"]["x-stream"] == {"null": None, "[$ref]": ["$ref"], "a $ref": "a $ref"}[table]


def test_parts_of_a_note_are_joined(bundle) -> None:
    bundler = bundle(
        openapi=root("{x-implementation-note: [An error., {$ref: 'notes.yaml#/A'}]}"),
        notes="A: No effect.\nB: Unused.\n",
    )
    assert bundler.run()["paths"]["/a"]["get"]["schema"] == {"x-implementation-note": "An error. No effect."}
    assert bundler.unused() == ["notes.yaml#/B"]


@pytest.mark.parametrize(
    "part", ["{Note: an unquoted colon}", "{$ref: 'notes.yaml#'}", "{$ref: 'notes.yaml#/A', more: 1}"]
)
def test_a_part_of_a_note_that_is_no_text(bundle, part) -> None:
    bundler = bundle(openapi=root(f"{{x-implementation-note: [{part}]}}"), notes="A: No effect.\n")
    with pytest.raises(SpecError, match="in a note is neither a text nor a reference"):
        bundler.run()


def test_files_that_refer_to_each_other(bundle) -> None:
    document = bundle(
        openapi=root("{$ref: 'a.yaml#/A'}"),
        a="A: {items: {$ref: 'b.yaml#/B'}}",
        b="B: {items: {$ref: 'a.yaml#/A'}}",
    ).run()
    assert document["components"]["schemas"]["B"] == {"items": {"$ref": "#/components/schemas/A"}}


def test_a_path_item_is_written_out_in_its_place(bundle) -> None:
    document = bundle(
        openapi="paths:\n  /a: {$ref: a.yaml}\n",
        a="get: {schema: {$ref: 'b.yaml#/responses/R'}}",
        b="responses: {R: {headers: {X: {$ref: '#/headers/H'}}}}\nheaders: {H: {description: x}}",
    ).run()
    assert document["paths"]["/a"] == {"get": {"schema": {"$ref": "#/components/responses/R"}}}
    assert document["components"] == {
        "headers": {"H": {"description": "x"}},
        "responses": {"R": {"headers": {"X": {"$ref": "#/components/headers/H"}}}},
    }


def test_two_things_of_one_name(bundle) -> None:
    bundler = bundle(
        openapi=root("{anyOf: [{$ref: 'a.yaml#/A'}, {$ref: 'b.yaml#/A'}]}"),
        a="A: {type: string}",
        b="A: {type: 'null'}",
    )
    with pytest.raises(SpecError, match=r"b\.yaml#/A: the name A is taken by a\.yaml#/A"):
        bundler.run()


@pytest.mark.parametrize("reference", ["a.yaml#/B", "a.yaml#/A/type/x", "c.yaml#/A"])
def test_a_dangling_reference(bundle, reference) -> None:
    with pytest.raises(SpecError, match=r"points at nothing|No such file"):
        bundle(openapi=root(f"{{$ref: '{reference}'}}"), a="A: {type: string}").run()


def test_mappings_are_references_and_data_is_not(bundle) -> None:
    document = bundle(
        openapi=root("{$ref: 'a.yaml#/A'}"),
        a="""
            A:
              discriminator: {mapping: {b: '#/B'}}
              examples: [{$ref: x}]
              default: {$ref: y}
            B: {type: string}
            """,
    ).run()
    assert document["components"]["schemas"]["A"] == {
        "discriminator": {"mapping": {"b": "#/components/schemas/B"}},
        "examples": [{"$ref": "x"}],
        "default": {"$ref": "y"},
    }


def test_properties_may_be_called_like_keywords(bundle) -> None:
    document = bundle(
        openapi=root("{$ref: 'a.yaml#/A'}"),
        a="A: {properties: {default: {$ref: '#/B'}, mapping: {$ref: '#/B'}}}\nB: {type: string}",
    ).run()
    reference = {"$ref": "#/components/schemas/B"}
    assert document["components"]["schemas"]["A"]["properties"] == {"default": reference, "mapping": reference}


def test_what_nothing_refers_to(bundle, tmp_path) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "old.yaml").write_text("Old: {type: string}")
    bundler = bundle(
        openapi=root("{$ref: 'a.yaml#/A'}"),
        a="A: {type: string}\nB: {type: string}\nheaders: {H: {}}",
        errors="codes: {}",
    )
    bundler.run()
    assert bundler.unused() == ["a.yaml#/B", "a.yaml#/headers/H", "schemas/old.yaml"]
