"""What a command line says here."""

from dataclasses import dataclass, field

from specvino.cli.system_options.table import MODEL


class OptionError(Exception):
    """The command line can't be read; `str()` says why, and names the option as it was given."""


@dataclass(frozen=True, slots=True)
class Own:
    """Is one of our options: whether it takes a value, and whether it may be repeated."""

    takes_value: bool
    repeatable: bool


@dataclass(frozen=True, slots=True)
class Given:
    """Is an option of ours, or MODEL, with its value (None for a flag) and the name under which it was given."""

    option: str
    value: str | None
    under: str


@dataclass(frozen=True, slots=True)
class Property:
    """Is a property's value, and the option that said it."""

    value: object
    under: str


@dataclass(slots=True)
class Read:
    """Holds what a command line says here: our options, variables of the environment, what has no effect, properties of
    the plugin and folders of models, the last two by the options that said them."""

    given: list[Given] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    without_effect: list[str] = field(default_factory=list)
    properties: dict[str, Property] = field(default_factory=dict)
    folders: list[tuple[str, str]] = field(default_factory=list)

    @property
    def arguments(self) -> list[str]:
        """Returns the command line in our options."""
        options = [each for each in self.given if each.option != MODEL]
        said = [part for each in options for part in (each.option, each.value) if part is not None]
        models = dict.fromkeys(each.value for each in self.given if each.option == MODEL and each.value is not None)
        return [*said, "--", *models] if models else said

    def under(self, option: str) -> str:
        """Returns the name under which one of our options was given first."""
        return next((each.under for each in self.given if each.option == option), option)

    def have_no_effect(self, option: str, because: str) -> None:
        line = f"{option} has no effect here: {because}"
        if line not in self.without_effect:
            self.without_effect.append(line)

    def have_property(self, name: str, value: object, under: str) -> None:
        """Notes a property. Raises OptionError where it has another value already."""
        before = self.properties.setdefault(name, Property(value, under))
        if before.value != value:
            raise OptionError(f"{before.under} and {under} both say {name}: {before.value} and {value}")
