"""A Go package: types by openapi-generator, and a client on net/http. It needs no other package but for WebSockets."""

import re
from pathlib import Path
from typing import Any

from specvino.codegen.emit.templates import templates
from specvino.sdk.document import ClientMethod, for_requests, methods
from specvino.sdk.go.types import generated, go_name, literal, literals
from specvino.sdk.groups import Group, grouped
from specvino.sdk.package import LICENSE, Package

TEMPLATES = Path(__file__).parent / "templates"

_templates = templates(TEMPLATES)


def pascal(name: str) -> str:
    """Returns a name as Go exports it: `create_chat_completion` becomes `CreateChatCompletion`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def method(name: str) -> str:
    """Returns the name of an operation's method, which isn't that of a field of the client."""
    return f"{pascal(name)}2" if pascal(name) in ("Key", "Retries") else pascal(name)


def variable(name: str) -> str:
    """Returns the name of a parameter, which has no other use: `response_id` becomes `responseId`."""
    camel = pascal(name)[:1].lower() + pascal(name)[1:]
    return f"{camel}2" if camel in KEYWORDS | LOCAL else camel


_templates.filters |= {"literal": literal, "method": method, "variable": variable}

KEYWORDS = frozenset(
    (
        *("break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func", "go"),
        *("goto", "if", "import", "interface", "map", "package", "range", "return", "select", "struct", "switch"),
        *("type", "var"),
    )
)
# What methods of the client name themselves.
LOCAL = frozenset(
    (
        *("any", "answer", "body", "c", "call", "context", "ctx", "end", "err", "fetch", "functions", "into", "new"),
        *("newCall", "nil", "openSession", "openStream", "options", "page", "parse", "run", "s", "segment", "string"),
    )
)

SOURCES = ("client", "errors", "pages", "stream", "texts", "transport", "unions")


def generate(document: dict[str, Any], package: Package) -> dict[str, str]:
    """Returns the package's files by path. Raises JavaError where openapi-generator fails."""
    operations = list(methods(document))
    name = re.sub(r"[\W_]", "", package.module)
    roots = [root for operation in operations for root in (operation.body, operation.answer, operation.event) if root]
    roots += [operation.items.kind for operation in operations if operation.items and operation.items.kind]
    roots += [operation.socket.message for operation in operations if operation.socket]
    conversations = [operation for operation in operations if operation.conversation and operation.body]
    sockets = [operation for operation in operations if operation.socket]
    sources = [*SOURCES, *(("conversations", "schemas") if conversations else ()), *(("session",) if sockets else ())]
    groups = grouped(operations)
    flat = {f"{method(operation.id)}{variant}" for operation in operations for variant in variants("", operation)}
    without_clashes(groups, flat, set())
    own = frozenset(declared("".join((TEMPLATES / f"{source}.go.jinja").read_text("utf-8") for source in sources)))
    own |= {f"{group.name}Service" for group in groups.all()}
    types = generated(for_requests(document), roots, own)
    made = set(declared(types))
    head = 'import "encoding/json"\n\n' if "json.RawMessage" in types else ""

    def type_of(component: str) -> str:
        return go_name(component, own) if go_name(component, own) in made else "map[string]any"

    values = {
        "package": package,
        "name": name,
        "operations": operations,
        "conversations": conversations,
        "sockets": sockets,
        "groups": groups,
        "members": members,
        "variants": variants,
        "address": address,
        "literals": literals,
        "type_of": type_of,
        "type_at": lambda component, *fields: type_at(types, type_of(component), *fields),
    }
    return {
        "go.mod": _render("go.mod.jinja", values),
        "README.md": _render("README.md.jinja", values),
        "LICENSE": LICENSE.read_text("utf-8"),
        **{f"{source}.go": _render(f"{source}.go.jinja", values) for source in sources},
        "types.go": f"package {name}\n\n{head}{types}",
    }


def variants(name: str, operation: ClientMethod) -> dict[str, str]:
    """Returns the names in a group of an operation's methods, where it is `name` itself, by what their flat names end
    with."""
    named = {"": name}
    if operation.items:
        named["All"] = f"{name}All"
    if operation.event:
        named["Stream"] = f"{name}Stream"
    if operation.conversation and operation.body:
        named |= {"Parse": "Parse", "Tools": "RunTools"}
    if operation.socket:
        named["Session"] = "Session"
    return named


def members(group: Group) -> dict[str, tuple[ClientMethod, str]]:
    """Returns the methods of a group by their names: operations, and what the flat names of their methods end with."""
    return {
        name: (operation, variant)
        for own, operation in group.methods.items()
        for variant, name in variants(pascal(own), operation).items()
    }


def without_clashes(group: Group, taken: set[str], types: set[str]) -> None:
    """Removes groups inside, in place, whose names in Go are those of methods, or whose types are those of others."""
    for name, inner in list(group.groups.items()):
        if method(name) in taken or inner.name in types:
            del group.groups[name]
        else:
            taken.add(method(name))
            types.add(inner.name)
            without_clashes(inner, set(members(inner)), types)


def declared(source: str) -> list[str]:
    """Returns the names of the types and functions that Go exports from a source."""
    return re.findall(r"(?m)^(?:type|func) ([A-Z]\w*)", source)


def type_at(types: str, name: str, *fields: str) -> str:
    """Returns the type of a field of a type, or of one inside it: empty if there is none."""
    for field in fields:
        body = types.partition(f"type {name.lstrip('[]*')} struct {{")[2].partition("\n}")[0]
        match = re.search(rf"\n\t{field} (\S+)", body)
        name = match[1] if match else ""
    return name


def address(operation: ClientMethod) -> str:
    """Returns the expression of an operation's address."""
    base = "c.root()" if operation.root else "c.BaseURL"
    parts = re.split(r"\{(\w+)\}", operation.path)
    named = [variable(part) if index % 2 else literal(part) for index, part in enumerate(parts) if part]
    return "+".join([base, *named])


def _render(name: str, values: dict[str, Any]) -> str:
    return _templates.get_template(name).render(**values)
