"""Fifty requests for JSON: what is asked, and the schema of the answer. Such as applications send them."""

from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

Schema = dict[str, Any]
Short = Annotated[str, Field(max_length=40)]


class City(BaseModel):
    name: Short
    country: Short
    population: int = Field(ge=0, le=50_000_000)


class Person(BaseModel):
    name: Short
    age: int = Field(ge=0, le=120)
    email: str | None = Field(default=None, max_length=40)


class Step(BaseModel):
    explanation: Short
    output: Short


class Reasoning(BaseModel):
    steps: list[Step] = Field(min_length=1, max_length=3)
    final_answer: Short


class Priority(Enum):
    LOW = "low"
    HIGH = "high"


class Ticket(BaseModel):
    title: Short
    priority: Priority
    tags: list[Literal["bug", "feature", "docs"]] = Field(max_length=3)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int = Field(ge=1, le=9)


class Dog(BaseModel):
    kind: Literal["dog"]
    name: Short


class Owner(BaseModel):
    pet: Cat | Dog = Field(discriminator="kind")


class Tree(BaseModel):
    value: int = Field(ge=0, le=9)
    left: "Tree | None" = None


class Order(BaseModel):
    id: int = Field(ge=1, le=9999)
    items: list[tuple[Short, Annotated[int, Field(ge=1, le=20)]]] = Field(min_length=1, max_length=3)
    total: float = Field(gt=0, lt=1000)
    paid: bool


def closed(required: list[str] | None = None, **properties: Schema) -> Schema:
    """An object of just these properties."""
    names = list(properties) if required is None else required
    return {"type": "object", "properties": properties, "required": names, "additionalProperties": False}


def text(most: int = 30) -> Schema:
    return {"type": "string", "maxLength": most}


def numbers(low: float, high: float, kind: str = "integer") -> Schema:
    return {"type": kind, "minimum": low, "maximum": high}


def some(items: Schema, least: int = 1, most: int = 4) -> Schema:
    return {"type": "array", "items": items, "minItems": least, "maxItems": most}


YES_NO = {"enum": ["yes", "no"]}
POINT = closed(x=numbers(-10, 10), y=numbers(-10, 10))

REQUESTS: list[tuple[str, Schema]] = [
    ("Describe Paris.", City.model_json_schema()),
    ("Invent a person.", Person.model_json_schema()),
    ("Solve 8x + 7 = -23 step by step.", Reasoning.model_json_schema()),
    ("The page is broken. Write a ticket.", Ticket.model_json_schema()),
    ("Who is your pet?", Owner.model_json_schema()),
    ("Draw a small tree.", Tree.model_json_schema()),
    ("I buy two apples.", Order.model_json_schema()),
    ("Is the sky blue?", closed(answer=YES_NO)),
    ("Is water wet?", YES_NO),
    ("Pick a number from 1 to 10.", numbers(1, 10)),
    ("Pick a number between 0 and 1.", numbers(0, 1, "number")),
    ("Is 7 a prime?", {"type": "boolean"}),
    ("Say nothing.", {"type": "null"}),
    ("What is the capital of France?", closed(capital=text())),
    ("Name three colours.", closed(colours=some(text(12), 3, 3))),
    ("Name a colour.", {"type": "string", "enum": ["red", "green", "blue"]}),
    ("Rate this film: great!", closed(stars=numbers(1, 5), comment=text(60))),
    (
        "Is this positive: I love it.",
        closed(sentiment={"enum": ["positive", "negative", "neutral"]}, score=numbers(-1, 1, "number")),
    ),
    ("Where is the treasure?", closed(point=POINT)),
    ("Draw a triangle.", closed(points=some(POINT, 3, 3))),
    ("Give me a matrix.", some(some(numbers(0, 9), 2, 2), 2, 2)),
    ("When did the war end?", closed(date={"type": "string", "format": "date"})),
    ("When shall we meet?", closed(at={"type": "string", "format": "date-time"})),
    ("At what time?", closed(time={"type": "string", "format": "time"})),
    ("Invent an id.", closed(id={"type": "string", "format": "uuid"})),
    ("What is my address?", closed(ip={"type": "string", "format": "ipv4"})),
    ("What is your e-mail?", closed(email={"type": "string", "format": "email"})),
    ("Write a plate.", closed(plate={"type": "string", "pattern": "^[A-Z]{2}-[0-9]{3,4}$"})),
    ("Write a phone number.", {"type": "string", "pattern": r"^\+\d{2} \d{3} \d{4}$"}),
    ("Write a colour in hex.", closed(colour={"type": "string", "pattern": "^#[0-9a-f]{6}$"})),
    ("How warm is it?", closed(degrees={"anyOf": [numbers(-50, 60), {"type": "null"}]})),
    ("A text or a number?", closed(value={"anyOf": [text(20), numbers(0, 100)]})),
    ("Yes or no, or many?", {"oneOf": [{"type": "boolean"}, some(YES_NO, 1, 2)]}),
    ("A shape, please.", {"anyOf": [closed(radius=numbers(1, 9)), closed(width=numbers(1, 9), height=numbers(1, 9))]}),
    ("What is Müller's city?", closed(größe=numbers(1, 9), straße=text(20))),
    ("Say hello in Japanese.", closed(挨拶={"enum": ["こんにちは", "おはよう"]})),
    ("Send an emoji.", closed(None, **{"🎉": {"enum": ["😀", "😢", "👍"]}})),
    ("Quote something.", closed(None, **{'the "quote"': text(30)})),
    (
        "Who lives where?",
        {"$defs": {"p": closed(name=text(20))}, **closed(a={"$ref": "#/$defs/p"}, b={"$ref": "#/$defs/p"})},
    ),
    ("Make a list.", {"definitions": {"i": numbers(0, 99)}, **closed(list=some({"$ref": "#/definitions/i"}, 2, 5))}),
    ("Go deep.", closed(a=closed(b=closed(c=closed(d=closed(e={"type": "boolean"})))))),
    ("Configure the server.", closed(["host"], host=text(20), port=numbers(1, 65535), tls={"type": "boolean"})),
    ("Count the words.", {"type": "object", "additionalProperties": numbers(0, 9), "maxProperties": 3}),
    ("Which version?", closed(version={"const": "1.0"}, build=numbers(1, 999))),
    (
        "A pair, please.",
        {"type": "array", "prefixItems": [text(10), numbers(0, 9)], "minItems": 2, "maxItems": 2, "items": False},
    ),
    ("What does it cost?", closed(price={"type": "number", "minimum": 0, "maximum": 100, "multipleOf": 0.01})),
    ("Set the dial to tens.", closed(dial={"type": "integer", "multipleOf": 10, "minimum": 0, "maximum": 100})),
    (
        "Extend the base.",
        {
            "allOf": [
                {"type": "object", "properties": {"id": numbers(1, 9)}, "required": ["id"]},
                {"properties": {"name": text(20)}, "required": ["name"]},
            ]
        },
    ),
    (
        "Review the code.",
        closed(
            issues=some(closed(line=numbers(1, 200), severity={"enum": ["info", "error"]}, note=text(40)), 0, 3),
            approved={"type": "boolean"},
        ),
    ),
    (
        "Plan the week.",
        closed(days=some(closed(day={"enum": ["Mon", "Tue", "Wed"]}, tasks=some(text(20), 0, 2)), 1, 3)),
    ),
]
