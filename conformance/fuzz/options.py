"""What a user chooses of a run with generated requests."""

from dataclasses import dataclass

from specvino.conformance.fuzz.check_texts import SAYS

SEED = 20250101

# How many random requests a profile has for each operation.
MAX_EXAMPLES = {"core": 10, "full": 25}

# Rules of the layer that are about the run, and no checks of answers.
OF_THE_RUN = ("requests", "answers", "run")

# The checks by the names that Schemathesis has them under; those that are ours are named likewise.
CHECKS = tuple(name.replace("-", "_") for name in SAYS if name not in OF_THE_RUN)


@dataclass(frozen=True, slots=True)
class Options:
    """`max_examples` bounds the random requests of each operation; without it the profile says how many. `include` are
    the checks that are made, without it all but those of `exclude`. Raises ValueError for a check that isn't there."""

    seed: int = SEED
    max_examples: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in (*self.include, *self.exclude):
            if name not in CHECKS:
                raise ValueError(f"there is no check {name!r}; the checks are {', '.join(CHECKS)}")
        if not self.checks:
            raise ValueError("the checks that are included are all excluded")

    @property
    def checks(self) -> tuple[str, ...]:
        """Returns the names of the checks that are made."""
        return tuple(name for name in self.include or CHECKS if name not in self.exclude)

    @property
    def left_out(self) -> list[str]:
        return [name for name in CHECKS if name not in self.checks]

    def most(self, profile: str) -> int:
        """Returns how many random requests each operation gets."""
        return MAX_EXAMPLES[profile] if self.max_examples is None else self.max_examples
