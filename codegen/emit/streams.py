"""The x-stream tables as Python expressions."""

from typing import Any

# The words of x-stream that Python keeps for itself.
FIELD_NAMES = {"from": "start", "as": "field"}


def filled(table: dict[str, Any]) -> dict[str, Any]:
    """Returns a table with the defaults filled in, the machines as a list and the laws as expressions."""
    rules = table["classify"]
    if not isinstance(rules, str):
        rules = [{key: rule.get(key) for key in ("fact", "each", "key")} | {"at": tuple(rule["at"])} for rule in rules]
    machines = [
        {
            "name": name,
            "inside": machine.get("in"),
            **{key: machine.get(key) for key in ("key", "open", "close")},
            **{key: tuple(machine.get(key, ())) for key in ("body", "end", "fail", "abort")},
        }
        for name, machine in table["machines"].items()
    ]
    return {**table, "classify": rules, "machines": machines, "laws": [_law(law) for law in table["laws"]]}


def _law(law: str | dict[str, Any]) -> str:
    """Writes a law as an expression: `{law: one fact, of: choice}` is `OneFact(of='choice')`."""
    entry = {"law": law} if isinstance(law, str) else dict(law)
    return _call(entry.pop("law").title().replace(" ", ""), entry)


def _call(name: str, values: dict[str, Any]) -> str:
    arguments = (f"{FIELD_NAMES.get(key, key)}={_expression(value)}" for key, value in values.items())
    return f"{name}({', '.join(arguments)})"


def _expression(value: Any) -> str:
    if isinstance(value, list):
        return f"({''.join(_expression(element) + ', ' for element in value)})"
    return _call("Text", value) if isinstance(value, dict) else repr(value)
