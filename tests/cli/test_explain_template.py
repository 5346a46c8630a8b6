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


def test_what_can_t_be_explained(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no such model"):
        explain_template(str(tmp_path / "nothing"))
    broken = tmp_path / "broken.jinja"
    broken.write_text("{% if %}")
    with pytest.raises(SystemExit, match=r"broken\.jinja: line 1"):
        explain_template(str(broken))
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(SystemExit, match="codec can't decode"):
        explain_template(str(broken))


def shown(output: str) -> str:
    """The output without the white space that fills a terminal's width."""
    return "\n".join(line.rstrip() for line in output.splitlines()).strip() + "\n"


if __name__ == "__main__":
    SNAPSHOTS.mkdir(exist_ok=True)
    for file in KINDS:
        with redirect_stdout(StringIO()) as written:
            explain_template(str(file))
        (SNAPSHOTS / f"{file.stem}.txt").write_text(shown(written.getvalue()), encoding="utf-8")
