"""Tokenizers beside models of others: the real tokenizer of 1,000 tokens beside graphs of other sizes."""

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from specvino.cli import main
from specvino.engine.errors import ModelLoadError
from specvino.engine.models import ModelSource
from specvino.engine.models.folder import open_folder, require_draft

GRAPH = "openvino_model.xml"


@pytest.fixture
def folder(tiny_text: ModelSource, tmp_path: Path) -> Path:
    return shutil.copytree(tiny_text.path, tmp_path / "m")


def rescale(folder: Path, scores: int) -> None:
    """Changes how many tokens the graph scores, as far as the folder is read."""
    graph = (folder / GRAPH).read_text()
    assert "<dim>1000</dim>" in graph
    (folder / GRAPH).write_text(graph.replace("<dim>1000</dim>", f"<dim>{scores}</dim>"))


@pytest.mark.parametrize("scores", [992, 999, 1000, 1024, 1050])
def test_a_vocabulary_that_is_padded_or_has_tokens_of_its_own(folder: Path, scores: int) -> None:
    rescale(folder, scores)
    open_folder(folder)


@pytest.mark.parametrize("scores", [2, 980, 1060, 151_936])
def test_a_tokenizer_of_another_model_is_refused(folder: Path, scores: int) -> None:
    rescale(folder, scores)
    result = CliRunner().invoke(main, ["serve", str(folder)])
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.endswith(
        f"{folder}/openvino_tokenizer.xml: has 1,000 tokens, but {folder}/{GRAPH} scores {scores:,}: it belongs to "
        "another model; copy the tokenizer's files of this one"
    )


def test_a_detokenizer_of_another_model_is_refused(folder: Path) -> None:
    file = folder / "openvino_detokenizer.xml"
    file.write_text(file.read_text().replace('shape="1000"', 'shape="900"'))
    with pytest.raises(ModelLoadError, match=r"openvino_detokenizer\.xml: has 900 tokens, but \S+ scores 1,000: "):
        open_folder(folder)


def test_a_tokenizer_without_a_vocabulary_of_its_own(folder: Path) -> None:
    """SentencePiece's code has it in one constant."""
    for name in ("openvino_tokenizer.xml", "openvino_detokenizer.xml"):
        file = folder / name
        graph = file.read_text().replace("BPETokenizer", "SentencepieceTokenizer")
        file.write_text(graph.replace("VocabDecoder", "SentencepieceDetokenizer"))
    rescale(folder, 32_000)
    open_folder(folder)


def test_a_model_that_leaves_the_number_of_scores_open(folder: Path) -> None:
    rescale(folder, -1)
    open_folder(folder)


def test_a_vision_language_model(tiny_vision: ModelSource, tmp_path: Path) -> None:
    folder = shutil.copytree(tiny_vision.path, tmp_path / "m")
    file = folder / "openvino_language_model.xml"
    file.write_text(file.read_text().replace("<dim>1000</dim>", "<dim>9000</dim>"))
    with pytest.raises(ModelLoadError, match=r"1,000 tokens, but \S+/openvino_language_model\.xml scores 9,000"):
        open_folder(folder)


@pytest.mark.parametrize(
    "graph", ["<net><layers></net>", '<net><edges><edge from-layer="1" to-layer="2"/></edges></net>']
)
def test_a_tokenizer_that_is_no_graph(folder: Path, graph: str) -> None:
    (folder / "openvino_tokenizer.xml").write_text(graph)
    with pytest.raises(ModelLoadError):
        open_folder(folder)


def test_a_draft_model_has_the_vocabulary_of_the_model(folder: Path, tiny_text: ModelSource) -> None:
    require_draft(tiny_text.path, folder)
    rescale(folder, 49_152)
    with pytest.raises(ModelLoadError) as raised:
        require_draft(tiny_text.path, folder)
    assert str(raised.value) == (
        f"{tiny_text.path}/openvino_tokenizer.xml: has 1,000 tokens, but {folder}/{GRAPH} scores 49,152: a draft model "
        "must have the vocabulary of the model"
    )
