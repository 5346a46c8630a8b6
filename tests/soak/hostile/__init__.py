"""Hostile clients: a module for each class of attacks in docs/robustness.md."""

from soak.hostile import below_http, bodies, constraints, images, places, strangers
from soak.hostile.attacker import Attack, Attacker

ATTACKS: tuple[Attack, ...] = (
    *below_http.ATTACKS,
    *strangers.ATTACKS,
    *bodies.ATTACKS,
    *constraints.ATTACKS,
    *places.ATTACKS,
)
ON_IMAGES: tuple[Attack, ...] = (*ATTACKS, *images.ATTACKS)

__all__ = ["ATTACKS", "ON_IMAGES", "Attack", "Attacker"]
