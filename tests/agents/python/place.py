"""What the jobs ask for as a structured output."""

from typing import Literal

from pydantic import BaseModel, Field


class Place(BaseModel):
    """The weather of the next days."""

    city: str = Field(min_length=1, max_length=40)
    unit: Literal["celsius", "fahrenheit"]
    days: int = Field(ge=1, le=9)
