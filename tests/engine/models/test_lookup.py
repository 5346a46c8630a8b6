from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from specvino.engine.errors import ModelLoadError
from specvino.engine.models import ModelSource, resolve
from specvino.engine.models.catalogue import CATALOGUE, PackagedModel


@pytest.fixture
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.fixture
def pulled(tiny_text: ModelSource, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were pulled; a pull gives the tiny model."""
    names: list[str] = []

    def pull(model: PackagedModel, report: Callable[[str, int, int], None]) -> Path:
        names.append(model.name)
        report("pulling", 0, 0)
        return tiny_text.path

    monkeypatch.setattr("specvino.engine.models.lookup.pull", pull)
    return names


@pytest.mark.parametrize("model", [None, "smollm2"])
def test_the_default_model_is_pulled(pulled: list[str], tiny_text: ModelSource, model: str | None) -> None:
    reports = []
    assert resolve(model, lambda *report: reports.append(report)) == replace(
        tiny_text, defaults=CATALOGUE["smollm2"].defaults
    )
    assert pulled == ["smollm2"]
    assert reports == [("pulling", 0, 0)]


@pytest.mark.usefixtures("in_a_folder")
def test_a_folder_with_the_name_of_a_known_model(pulled: list[str], tiny_text: ModelSource) -> None:
    Path("smollm2").symlink_to(tiny_text.path)
    assert resolve("./smollm2").context_length == 4096
    assert pulled == []


def test_a_folder(tiny_text: ModelSource) -> None:
    source = resolve(str(tiny_text.path))
    assert (source.context_length, source.defaults, source.gguf) == (4096, {}, False)


@pytest.mark.parametrize("name", ["m.gguf", "m.GGUF"])
def test_a_gguf_file(in_a_folder: Path, name: str) -> None:
    (in_a_folder / name).write_bytes(b"nonsense")
    with pytest.raises(ModelLoadError, match="is not a GGUF file"):
        resolve(name)


@pytest.mark.usefixtures("in_a_folder")
def test_a_gguf_file_that_is_not_there() -> None:
    with pytest.raises(ModelLoadError, match=r"^gone\.gguf: there is no such file$"):
        resolve("gone.gguf")


def test_a_file_of_another_kind(in_a_folder: Path) -> None:
    (in_a_folder / "model.safetensors").touch()
    with pytest.raises(ModelLoadError, match=r"^model\.safetensors: is neither an OpenVINO folder nor a \.gguf file$"):
        resolve("model.safetensors")


@pytest.mark.usefixtures("in_a_folder")
@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("org/model", ("org/model", None, None)),
        ("org/Model.v1-ov:Q4_K_M", ("org/Model.v1-ov", "Q4_K_M", None)),
    ],
)
def test_an_id_of_the_hub(
    monkeypatch: pytest.MonkeyPatch, tiny_text: ModelSource, name: str, asked: tuple[str | None, ...]
) -> None:
    found = []

    def fetch(id: str, quantization: str | None, revision: str | None, report: object) -> ModelSource:
        found.append((id, quantization, revision))
        return tiny_text

    monkeypatch.setattr("specvino.engine.models.hub.fetch", fetch)
    assert resolve(name) is tiny_text
    assert found == [asked]
    resolve("org/model", revision="v1")
    assert found[-1] == ("org/model", None, "v1")


@pytest.mark.parametrize("model", [None, "smollm2", "gone", "./gone", "gone.gguf", "."])
def test_a_revision_is_the_hubs(model: str | None) -> None:
    with pytest.raises(ModelLoadError, match=r"--revision 'v1' applies only to models of the Hugging Face hub"):
        resolve(model, revision="v1")


@pytest.mark.usefixtures("in_a_folder")
@pytest.mark.parametrize("model", ["smollm3", "no/such/folder", "../a", "/a/b", "org/m:a:b"])
def test_anything_else_is_told_what_is_accepted(model: str) -> None:
    with pytest.raises(ModelLoadError) as raised:
        resolve(model)
    message = str(raised.value)
    assert message.startswith(f"{model}: no such model; ")
    assert all(word in message for word in ("OpenVINO folder", ".gguf file", "Hugging Face hub", *CATALOGUE))
    assert "\n" not in message


def test_the_real_default_model(smollm2: ModelSource) -> None:
    assert smollm2.context_length == 8192
    assert smollm2.gguf
