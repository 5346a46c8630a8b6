"""The servers of servers.yaml."""

from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from specvino.document import yaml_text

HERE = Path(__file__).parent


class Listed(BaseModel):
    """Says how one server is installed, started and asked. Texts of `prepare`, `run`, `env`, `files` and `conform` may
    have places to fill in: `{port}` (not in `conform`), `{folder}` (the server's own), `{here}` (this folder), `{gguf}`
    (the default model's file), `{backend}` (the address of a server of ours with the scripted engine, which is started
    for it)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    """Its name and version, as reports have it."""
    home: str
    about: str
    """What is judged: the model, the settings that aren't the server's own."""
    pip: tuple[str, ...] = ()
    npm: tuple[str, ...] = ()
    build: dict[str, str] = {}
    """The environment of pip, for what it compiles."""
    prepare: tuple[tuple[str, ...], ...] = ()
    """Commands that are run once, after it is installed."""
    run: tuple[str, ...] = ()
    """Without it, its people sent the report."""
    env: dict[str, str] = {}
    files: dict[str, str] = {}
    """Written into its folder before it starts."""
    base: str = "/v1"
    ready: str = "/v1/models"
    """A path that it answers with success once it is ready."""
    conform: tuple[str, ...] = ()
    """Options of `specvino conform`."""
    other_judges: bool = True
    """Whether `--outside` asks about it. Other judges ask for words and calls that the default model doesn't write."""

    @property
    def texts(self) -> tuple[str, ...]:
        """Returns all texts that may have places to fill in."""
        prepare = (word for words in self.prepare for word in words)
        return (*prepare, *self.run, *self.env.values(), *self.files.values(), *self.conform)

    def needs(self, placeholder: str) -> bool:
        return any(f"{{{placeholder}}}" in text for text in self.texts)


@cache
def listed() -> dict[str, Listed]:
    """Returns the servers by the names of their files."""
    content = yaml_text.load((HERE / "servers.yaml").read_text("utf-8"))
    return {name: Listed.model_validate(entry) for name, entry in content.items()}
