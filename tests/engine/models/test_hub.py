"""Which files of a repository are taken. Downloads are tried with the command: tests/cli/test_pull_hub.py."""

import threading

import pytest

from specvino.engine.errors import ModelLoadError
from specvino.engine.models import hub
from specvino.engine.models.folder import FILES, VISION_FILES
from specvino.engine.models.hub import needed_files
from specvino.engine.progress import say_nothing

BESIDE = ["config.json", "generation_config.json", "chat_template.jinja", "additional_chat_templates/tool_use.jinja"]
GGUFS = ["m-Q4_K_M.gguf", "m-Q4_K_S.gguf", "big/m.Q8_0.gguf"]


@pytest.mark.parametrize("needed", [FILES, VISION_FILES])
def test_an_openvino_model_without_what_else_is_there(needed: tuple[str, ...]) -> None:
    others = ["README.md", "model.safetensors", "pytorch_model.bin", "onnx/config.json", "m-Q4_0.gguf"]
    files, gguf = needed_files("org/m", [*needed, *BESIDE, *others], None)
    assert gguf is None
    assert files == sorted([*needed, *BESIDE])


def test_the_only_gguf_file_and_nothing_else() -> None:
    assert needed_files("org/m", ["config.json", "m.gguf", "mmproj-m.gguf"], None) == (["m.gguf"], "m.gguf")


@pytest.mark.parametrize(("quantization", "file"), [("Q4_K_M", GGUFS[0]), ("q4_k_s", GGUFS[1]), ("Q8_0", GGUFS[2])])
def test_one_of_several_gguf_files(quantization: str, file: str) -> None:
    assert needed_files("org/m", [*GGUFS, *FILES], quantization) == ([file], file)


@pytest.mark.parametrize(
    ("files", "quantization", "reason"),
    [
        (
            ["model.safetensors"],
            None,
            r"openvino_model\.xml is missing.*specvino pull --convert org/m'.*OpenVINO/m-int4-ov",
        ),
        (FILES[:-1], None, r"openvino_detokenizer\.bin is missing"),
        (VISION_FILES[:-1], None, r"openvino_detokenizer\.bin is missing"),
        ([], None, "is missing"),
        (GGUFS, None, r"has several GGUF files; name one as in org/m:Q4_K_M: big/m\.Q8_0\.gguf, m-Q4"),
        (GGUFS, "K_M", "none of its files is a GGUF file of K_M: big"),  # the end of a word, not of a name
        (GGUFS, "Q2_K", "none of its files is a GGUF file of Q2_K: big"),
        (FILES, "Q2_K", "none of its files is a GGUF file of Q2_K: it has no GGUF file"),
        (["m-Q4_0-00001-of-00003.gguf"], "Q4_0", "is a part of a GGUF file"),
        (["m-Q4_0-00001-of-00003.gguf"], None, "is a part of a GGUF file"),
    ],
)
def test_what_is_not_there(files: list[str], quantization: str | None, reason: str) -> None:
    with pytest.raises(ModelLoadError, match=f"^org/m: .*{reason}"):
        needed_files("org/m", list(files), quantization)


def test_bars_start_no_thread() -> None:
    """A thread that starts while another bar is deleted can end in a deadlock."""
    threads = set(threading.enumerate())
    hub._bars(1, say_nothing)(total=1).close()
    assert set(threading.enumerate()) == threads
