"""Hostile clients: a module for each class of attacks in docs/robustness.md, and one for all fields."""

from soak.hostile import below_http, bodies, constraints, fields, images, places, strangers, templates
from soak.hostile.attacker import Attack, Attacker

ATTACKS: tuple[Attack, ...] = (
    *below_http.ATTACKS,
    *strangers.ATTACKS,
    *bodies.ATTACKS,
    *constraints.ATTACKS,
    *places.ATTACKS,
    *fields.ATTACKS,
    *templates.ATTACKS,
)
ON_IMAGES: tuple[Attack, ...] = (*ATTACKS, *images.ATTACKS)

__all__ = ["ATTACKS", "ON_IMAGES", "Attack", "Attacker"]
