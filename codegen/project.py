"""The document of another system, derived from ours; client packages are generated from it."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

from specvino.codegen.apart import join_same, take_apart
from specvino.codegen.closing import close_requests
from specvino.codegen.fields import Field, around, field_name, fields, parts
from specvino.codegen.framing import adapt_streams
from specvino.codegen.merge import WITHOUT, Entry, MarkedFields, part_level, support
from specvino.codegen.own_schema import NULL, drop_bounds
from specvino.codegen.project_schema import SchemaProjector, sweep
from specvino.codegen.statuses import adapt_answers
from specvino.document.operations import EVENTS, JSON, LINES, METHODS, Schema, operations
from specvino.document.pointers import escape, resolved, schema_reference
from specvino.document.transforms import copied, to_31
from specvino.document.validator import Validators
from specvino.document.walk import all_schemas, followed, media_types, objects

# Keywords about this server or all systems. x-origin stays.
MARKINGS = (
    "x-handling",
    "x-supported-values",
    "x-emit",
    "x-implementation-note",
    "x-refusals",
    "x-support",
    "x-served-at-root",
)


def project(document: dict[str, Any], dialect: dict[str, Any]) -> dict[str, Any]:
    """Returns the OpenAPI 3.1 document of the system that `dialect` describes."""
    projected = copied(document)
    drop_bounds(projected)
    all_fields = fields(projected)
    levels = support(all_fields, dialect)
    missing = _missing(all_fields, levels, parts(projected), dialect)
    take_apart(projected, levels)
    projected["components"]["schemas"] |= copied(dialect.get("schemas", {}))
    entries: dict[int, MarkedFields] = {}
    on_sockets = _socket_errors(projected)
    for field in _reachable(fields(projected), levels):
        if (field.endpoint, field.part) not in missing and field.name in levels:
            for owner in (*field.owners, *on_sockets.get(field.name, ())):
                entries.setdefault(id(owner), ([], levels[field.name]))[0].append(field)
    closed = dialect["unknown_fields"] == "refused"
    SchemaProjector(projected, entries, closed).run()
    join_same(projected)
    for title, like in dialect.get("other_roles", {}).items():
        _add_other_roles(projected, title, like)
    for title, parts_by_type in dialect.get("other_parts", {}).items():
        _add_other_parts(projected, title, parts_by_type)
    _add_rules(projected, dialect)
    _drop_operations(projected, missing, dialect)
    adapt_answers(projected, dialect)
    adapt_streams(projected, dialect)
    if closed:
        close_requests(projected)
    validators = Validators(projected)
    drop_examples(projected, lambda schema, value: validators.of(schema).fits(value))
    sweep(projected)
    _head(projected, dialect)
    drop_unreached(projected)
    for _, node in objects(projected):
        for key in MARKINGS:
            node.pop(key, None)
    return to_31(projected)


def project_version(document: dict[str, Any], dialect: dict[str, Any], newest: dict[str, Any]) -> dict[str, Any]:
    """Returns the document of an older version of a system, with the levels that differ from those of the newest."""
    projected = project(document, dialect)
    listed = fields(document)
    others = support(listed, newest)
    levels = {name: entry for name, entry in support(listed, dialect).items() if entry != others.get(name)}
    projected["x-dialect"]["levels"] = {
        name: entry["level"] if entry.keys() == {"level"} else entry for name, entry in levels.items()
    }
    return projected


def _socket_errors(document: dict[str, Any]) -> dict[str, list[Schema]]:
    """Returns the properties of errors on WebSockets by the names of the same fields of errors by HTTP."""
    children: dict[str, list[Schema]] = {}
    for operation in operations(document):
        if socket := operation.definition.get("x-websocket"):
            event = resolved(document, socket["error"])
            for name, child in resolved(document, event["properties"]["error"])["properties"].items():
                children.setdefault(field_name("error", "response", f"error.{name}"), []).append(child)
    return children


def _reachable(all_fields: list[Field], levels: dict[str, Entry]) -> list[Field]:
    """Returns the fields that aren't inside a field that the system lacks or that is always null: an object that never
    occurs doesn't restrict its schema, which other fields may share.
    """
    without = {field.key for field in all_fields if _never_comes(levels.get(field.name, {}))}
    return [
        field
        for field in all_fields
        if not any((field.endpoint, field.part, path) in without for path in around(field.path))
    ]


def _never_comes(entry: Entry) -> bool:
    return entry.get("level") in WITHOUT or entry.get("schema") == NULL


def _missing(
    all_fields: list[Field], levels: dict[str, Entry], known: list[tuple[str, str]], dialect: dict[str, Any]
) -> set[tuple[str, str]]:
    """Returns the parts, as (endpoint, part), that the system lacks: as a whole, or because it has none of their
    fields.

    The request is included only if the whole endpoint is, and the schema of errors never. A stream that the dialect
    describes isn't: its events may be answers, and only errors have fields of their own.
    """
    by_part: dict[tuple[str, str], list[str | None]] = {part: [] for part in known}
    for field in all_fields:
        by_part[field.endpoint, field.part].append(levels.get(field.name, {}).get("level"))
    for (endpoint, part), part_levels in by_part.items():
        # All its fields may belong to another part.
        if not part_levels or (part == "stream" and endpoint in dialect["stream"]):
            part_levels.append(part_level(endpoint, part, dialect))
    left = {
        endpoint for (endpoint, _), part_levels in by_part.items() if not all(level in WITHOUT for level in part_levels)
    }
    return {
        (endpoint, part)
        for (endpoint, part), part_levels in by_part.items()
        if all(level in WITHOUT for level in part_levels)
        and endpoint != "error"
        and (endpoint not in left or part != "request")
    }


def _drop_operations(document: dict[str, Any], missing: set[tuple[str, str]], dialect: dict[str, Any]) -> None:
    known = parts(document)
    for operation in list(operations(document)):
        endpoint, item, definition = operation.endpoint, document["paths"][operation.path], operation.definition
        if all(part in missing for part in known if part[0] == endpoint):
            del item[operation.method.lower()]
            if not item.keys() & set(METHODS):
                del document["paths"][operation.path]
            continue
        if "parameters" in definition:
            read = dialect.get("parameters", {}).get(endpoint)
            definition["parameters"] = [
                parameter
                for parameter in definition["parameters"]
                if parameter.get("x-origin") != "specvino"
                and (read is None or parameter["in"] != "query" or parameter["name"] in read)
            ]
        content = operation.content()
        for part, media in (("response", JSON), ("stream", EVENTS), ("stream", LINES)):
            if (endpoint, part) in missing:
                content.pop(media, None)
        if operation.stream is None:
            definition.pop("x-stream", None)
        if endpoint not in dialect.get("websockets", ()):
            definition.pop("x-websocket", None)
        if operation.is_also_at_root or endpoint in dialect.get("at_root", ()):
            definition["servers"] = [{"url": "/"}]
        for answer in definition["responses"].values():  # their targets are only known for this server
            answer.pop("links", None)


def _add_other_roles(document: dict[str, Any], title: str, like: str) -> None:
    """Adds a message with any other role to the unions with this title. It is like the one of the role `like`."""
    schemas = document["components"]["schemas"]
    for name, union in list(schemas.items()):
        # TokenizedMessage is one object for all roles; systems that have any role there have chat's messages instead.
        if union.get("title") != title or "discriminator" not in union:
            continue
        mapping = union["discriminator"]["mapping"]
        if (other := f"Other{name}") not in schemas:
            schemas[other] = {
                **copied(resolved(document, {"$ref": mapping[like]})),
                "title": other,
                "description": "A message of another role. The chat template decides how it is rendered.",
            }
            role = schemas[other]["properties"]["role"]
            del role["const"]
            role["type"] = "string"
        schemas[other]["properties"]["role"]["not"] = {"enum": sorted(mapping)}
        references = [{"$ref": f"#/components/schemas/{choice}"} for choice in (name, other)]
        for _, node in list(objects(document)):
            if node.get("items") == references[0]:
                node["items"] = {"$ref": f"#/components/schemas/Any{name}"}
        schemas[f"Any{name}"] = {
            "title": f"Any{name}",
            "description": "A message of any role.",
            "anyOf": references,
        }


def _add_other_parts(document: dict[str, Any], title: str, names: dict[str, str]) -> None:
    """Adds further branches, the names of components by their `type`, to the unions with this title."""
    added = {kind: schema_reference(name) for kind, name in names.items()}
    for union in document["components"]["schemas"].values():
        if union.get("title") == title and "discriminator" in union:
            union["oneOf"] += [{"$ref": target} for target in added.values()]
            union["discriminator"]["mapping"] |= added


def _add_rules(document: dict[str, Any], dialect: dict[str, Any]) -> None:
    """Adds the system's rules between fields to the bodies of requests."""
    for operation in operations(document):
        if rules := dialect.get("rules", {}).get(operation.endpoint):
            resolved(document, operation.body)["allOf"] = copy.deepcopy(rules)


def _head(document: dict[str, Any], dialect: dict[str, Any]) -> None:
    name = dialect["name"]
    document["info"]["title"] = f"The OpenAI-compatible API of {name}"
    document["info"]["summary"] = f"What {name} takes and sends."
    document["info"]["description"] = (
        f"Chat, completions and responses as OpenAI defines them, as far as {name} has them, with what it adds. "
        "Every field says who defined it (x-origin)."
    )
    document["servers"] = [{"url": path} for path in dialect["base_paths"]]
    # Facts that no operation can state: the handling of unknown paths and fields, and the common properties of answers.
    keys = (
        "version",
        "port",
        "errors",
        "stream",
        "unknown_fields",
        "answers",
        "any_model_unless_named",
        "appends_suffix",
        "other_operations",
        "hosted",
        "unmatched_calls",
        "empty_input",
        "beyond_context",
        "other_roles",
        "unread",
        "conditions",
        "unmatched_choice",
        "unusable_formats",
        "preflight",
        "exact_scheme",
    )
    document["x-dialect"] = {key: dialect[key] for key in keys if key in dialect}
    used = {tag for operation in operations(document) for tag in operation.definition["tags"]}
    document["tags"] = [tag for tag in document["tags"] if tag["name"] in used]
    if dialect["auth"].get("always"):
        for scheme in document["components"].get("securitySchemes", {}).values():
            scheme["description"] = "Every request needs a key."


def drop_unreached(document: dict[str, Any]) -> None:
    """Removes the components that nothing in the paths leads to."""
    components = document["components"]
    reached = {reference for reference, _ in followed(document, document["paths"])}
    for kind in components.keys() - {"securitySchemes"}:
        for name in [name for name in components[kind] if f"#/components/{kind}/{escape(name)}" not in reached]:
            del components[kind][name]
        if not components[kind]:
            del components[kind]


def examples(document: dict[str, Any]) -> Iterator[tuple[str, Schema, Any]]:
    """Yields every example with its location and its schema."""
    for location, schema, named in _named(document):
        for name, example in named.items():
            yield f"{location} example {name}", schema, example.get("value")
    for location, schema in all_schemas(document):
        for index, value in enumerate(schema.get("examples", ())):
            yield f"{location} example {index}", _bare(schema), value


def drop_examples(document: dict[str, Any], fits: Callable[[Schema, Any], bool]) -> None:
    """Removes the examples for which `fits(schema, value)` is false."""
    for _, schema, named in list(_named(document)):
        for name in [name for name, example in named.items() if not fits(schema, example.get("value"))]:
            del named[name]
    for _, schema in list(all_schemas(document)):
        if "examples" in schema:
            schema["examples"] = [value for value in schema["examples"] if fits(_bare(schema), value)]
            if not schema["examples"]:
                del schema["examples"]


def _named(document: dict[str, Any]) -> Iterator[tuple[str, Schema, dict[str, Any]]]:
    """Yields the named examples next to a schema."""
    for location, media in media_types(document):
        if "examples" in media:
            yield location, media["schema"], media["examples"]
    for operation in operations(document):
        for parameter in operation.parameters:
            if "examples" in parameter:
                location = f"{operation.label} parameter {parameter['name']}"
                yield location, parameter["schema"], parameter["examples"]


def _bare(schema: Schema) -> Schema:
    return {key: value for key, value in schema.items() if key != "examples"}
