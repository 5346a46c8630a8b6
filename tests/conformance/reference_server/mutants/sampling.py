"""Tokens that are chosen wrongly."""

import random
from collections.abc import Mapping
from typing import Any

from reference_server.generation import Asked, Generation
from reference_server.refusal import Refusal
from specvino.generated.errors import ErrorCode


class IgnoresTemperature(Generation):
    """Tokens are drawn at any temperature."""

    breaks = {"chat/sampling/greedy"}

    def is_greedy(self, body: Mapping[str, Any]) -> bool:
        return super().is_greedy({**body, "temperature": 1})


class ForgetsSeeds(Generation):
    """The seed is another one each time."""

    breaks = {"chat/sampling/seed", "chat/sampling/seeded-stream"}

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        return super().seed({name: value for name, value in body.items() if name != "seed"}, choice)


class DrawsFromAll(Generation):
    """Nothing but the temperature says from how many tokens is drawn."""

    breaks = {"chat/sampling/top-p", "chat/sampling/top-k", "chat/sampling/min-p"}

    def is_greedy(self, body: Mapping[str, Any]) -> bool:
        return body.get("temperature") == 0


class SeedsWhenCounting(Generation):
    """Where choices are counted, each has a seed, at any temperature."""

    breaks = {"chat/choices/one"}

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        return choice if "n" in body else super().seed(body, choice)


class RefusesStrongSettings(Generation):
    """Only the middle of what settings may be is taken."""

    breaks = {
        "chat/sampling/hot",
        "chat/sampling/penalties",
        "chat/sampling/repetition-penalty",
        "chat/sampling/seed-below-0",
    }

    def require_settings(self, body: Mapping[str, Any]) -> None:
        super().require_settings(body)
        bounds = {
            "temperature": (0, 1.5),
            "frequency_penalty": (-1.5, 1.5),
            "presence_penalty": (-1.5, 1.5),
            "repetition_penalty": (0.8, 1.2),
            "seed": (0, 2**32),
        }
        for name, (low, high) in bounds.items():
            if not low <= body.get(name, low) <= high:
                raise Refusal(ErrorCode.INVALID_VALUE, f"{name} must be from {low} to {high}.", name)


class OneOfTwoSettings(Generation):
    """temperature and top_p can't be said together."""

    breaks = {"chat/sampling/defaults"}

    def require_settings(self, body: Mapping[str, Any]) -> None:
        super().require_settings(body)
        if body.keys() >= {"temperature", "top_p"}:
            raise Refusal(ErrorCode.INVALID_VALUE, "Say temperature or top_p, not both.", "top_p")


class DrawsOnce(Generation):
    """All choices are drawn with one seed."""

    breaks = {"chat/choices/drawn-apart"}

    def seed(self, body: Mapping[str, Any], choice: int) -> int | None:
        return super().seed({**body, "seed": body.get("seed", 7)}, 0)


class EndsAllTheSame(Generation):
    """The model ends its turn, though that is to be ignored."""

    breaks = {"chat/limits/ignored-end"}

    def length(self, asked: Asked, draw: random.Random, budget: int) -> int:
        return 4
