"""A request is counted as the response with the same fields counts it, and refused as that is."""

import re
from typing import Any

import httpx
from support.images import data_url, file

from proofs import proves
from proofs.conftest import Run
from proofs.test_images import BLUE
from proofs.test_items import PLACES, user
from proofs.test_tools import CITY, UNENFORCED

Body = dict[str, Any]

# A tool whose schema can't be enforced, and a format that can't be parsed: a forced call of them is refused.
FUNCTION = {"name": "capital", "description": "the big", "parameters": UNENFORCED, "strict": True}
FORMAT = {"type": "grammar", "syntax": "regex", "definition": "("}

# An image of which a request may have fewer than nine, except with little detail.
LARGE = data_url(file("red", (2048, 2048), "JPEG"), "image/jpeg")

NO_TOOL = {"type": "function", "name": "no"}

# By field: a body in which it matters.
BODIES: dict[str, Body] = {
    "model": {"model": "another"},
    "input": {"input": "hello"},
    "instructions": {"instructions": "the big"},
    "chat_template_kwargs": {"chat_template_kwargs": {"add_generation_prompt": False}},
    "reasoning": {"reasoning": {"effort": "none"}},
    "reasoning.effort": {"reasoning": {"effort": "none"}},
    "truncation": {"input": [user("the " * 5000), user("hello")], "truncation": "auto"},
    "tool_choice": {"tool_choice": "required"},
    "tool_choice.type": {"tool_choice": NO_TOOL},
    "tool_choice.name": {"tool_choice": NO_TOOL},
    "tool_choice.function": {"tool_choice": {"type": "function", "function": {"name": "no"}}},
    "tool_choice.function.name": {"tool_choice": {"type": "function", "function": {"name": "no"}}},
    "tool_choice.mode": {"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [NO_TOOL]}},
    "tool_choice.tools": {"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": [NO_TOOL]}},
    "input[].encrypted_content": {"input": [{"type": "reasoning", "encrypted_content": "x"}, user("hello")]},
}

FIELDS_OF_TOOLS = (
    *("type", "name", "description", "parameters", "strict", "execution"),
    *("function", "function.name", "function.description", "function.parameters", "function.strict"),
    *("format", "format.type", "format.syntax", "format.definition"),
    *("tools", "tools[].type", "tools[].name", "tools[].description", "tools[].parameters", "tools[].strict"),
    *("tools[].format", "tools[].format.type", "tools[].format.syntax", "tools[].format.definition"),
)
TOOLS = ("tools", "input[].tools", *(f"{at}[].{name}" for at in ("tools", "input[].tools") for name in FIELDS_OF_TOOLS))

IMAGE = ("type", "image_url", "image_url.url", "image_url.detail", "detail")
IMAGES = [f"input[].{at}[].{name}" for at in ("content", "output") for name in IMAGE]


def same(http: httpx.Client, **fields: Any) -> None:
    body = {"model": "m", "input": "hello", **fields}
    answer = http.post("/responses", json={"temperature": 0, "max_output_tokens": 1, **body})
    count = http.post("/responses/input_tokens", json=body)
    assert count.status_code == answer.status_code
    if answer.is_success:
        assert count.json() == {
            "object": "response.input_tokens",
            "input_tokens": answer.json()["usage"]["input_tokens"],
        }
    else:
        assert count.json()["error"] == answer.json()["error"]


def path(run: Run) -> str:
    return run.field.removeprefix("input_tokens.")


@proves(*(f"input_tokens.{name}" for name in BODIES))
def test_fields(run: Run, http: httpx.Client) -> None:
    same(http, **BODIES[path(run)])


@proves("input_tokens.previous_response_id")
def test_what_it_continues(http: httpx.Client) -> None:
    first = http.post("/responses", json={"model": "m", "input": "capital", "temperature": 0}).json()
    same(http, previous_response_id=first["id"])


@proves(*(f"input_tokens.input[].{name}" for name in (*PLACES, "role")), on="telling")
def test_items(run: Run, http: httpx.Client) -> None:
    name = path(run).removeprefix("input[].")
    same(http, input=[{"role": "system", "content": "who"}] if name == "role" else PLACES[name][:1])


@proves(*(f"input_tokens.{name}" for name in TOOLS))
def test_tools(run: Run, http: httpx.Client) -> None:
    name = path(run)
    offered = tool(name.removeprefix("input[].").removeprefix("tools[]."))
    forced = {"tool_choice": "required"} if re.search(r"\bstrict|\bformat", name) else {}
    if name.startswith("input[]"):
        same(http, input=[{"type": "additional_tools", "tools": [offered]}, user("hello")], **forced)
    else:
        same(http, tools=[offered], **forced)


def tool(name: str) -> Body:
    """A tool with the field."""
    if name.startswith("tools"):
        return {"type": "namespace", "name": "n", "tools": [tool(name.removeprefix("tools").removeprefix("[]."))]}
    if name.startswith("function"):
        return {"type": "function", "function": FUNCTION}
    if name.startswith("format"):
        return {"type": "custom", "name": "capital", "format": FORMAT}
    if name == "execution":
        return {"type": "tool_search", "execution": "client", "parameters": CITY}
    return {"type": "function", **FUNCTION}


def with_images(field: str) -> Body:
    """An item in which the field of an image matters: with `detail`, there may only be so many images without it."""
    image, count = (LARGE, 9) if field.endswith("detail") else (BLUE, 1)
    part: Body = {"type": "input_image", "image_url": {"url": image} if "image_url." in field else image}
    if field.endswith("image_url.detail"):
        part["image_url"]["detail"] = "low"
    elif field.endswith("detail"):
        part["detail"] = "low"
    parts = [part] * count
    return {"type": "function_call_output", "call_id": "the", "output": parts} if "output" in field else user(parts)


@proves(*(f"input_tokens.{name}" for name in IMAGES), on="vision")
def test_images(run: Run, http: httpx.Client) -> None:
    same(http, input=[user("hello"), with_images(path(run))])
