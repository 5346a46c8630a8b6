"""What is derived of each kind of template, as users see it.

`PYTHONPATH=tests python tests/cli/test_explain_template.py` writes the snapshots anew.
"""

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from specvino.cli.explain_template import explain_template

TESTS = Path(__file__).parents[1]
KINDS = sorted((TESTS / "engine" / "chat_template" / "kinds").iterdir())
SNAPSHOTS = Path(__file__).with_name("explained_templates")


@pytest.mark.parametrize("kind", KINDS, ids=lambda file: file.stem)
def test_what_is_shown(kind: Path, capsys: pytest.CaptureFixture[str]) -> None:
    explain_template(str(kind))
    assert shown(capsys.readouterr().out) == (SNAPSHOTS / f"{kind.stem}.txt").read_text("utf-8")


def test_the_default_way_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    explain_template(str(TESTS / "models" / "tiny_text"))
    out = capsys.readouterr().out
    assert '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}\n</tool_call>' in out
    assert "Reasoning: <think>…</think>" in out


def test_what_can_t_be_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def ended(template: Path) -> str:
        with pytest.raises(SystemExit) as end:
            explain_template(str(template))
        assert end.value.code == 2
        return capsys.readouterr().err

    assert "no such model" in ended(tmp_path / "nothing")
    broken = tmp_path / "broken.jinja"
    broken.write_text("{% if %}")
    assert "broken.jinja: line 1" in ended(broken)
    broken.write_bytes(b"\xff\xfe")
    assert "codec can't decode" in ended(broken)


def shown(output: str) -> str:
    """The output without the white space that fills a terminal's width."""
    return "\n".join(line.rstrip() for line in output.splitlines()).strip() + "\n"


if __name__ == "__main__":
    SNAPSHOTS.mkdir(exist_ok=True)
    for file in KINDS:
        with redirect_stdout(StringIO()) as written:
            explain_template(str(file))
        (SNAPSHOTS / f"{file.stem}.txt").write_text(shown(written.getvalue()), encoding="utf-8")
