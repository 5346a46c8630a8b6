import io

from rich.console import Console

from specvino.cli.progress import Progress

BEGUN, CHECKING = ("downloading the model", 0, 93_000_000), ("checking the model", 0, 0)


def shown(*reports: tuple[str, int, int], terminal: bool) -> str:
    output = io.StringIO()
    with Progress(Console(file=output, force_terminal=terminal, width=120)) as report:
        for reported in reports:
            report(*reported)
    return output.getvalue()


def test_bars_on_a_terminal() -> None:
    text = shown(
        BEGUN,
        ("downloading the model", 31_000_000, 93_000_000),
        ("checking the model", 0, 0),
        terminal=True,
    )
    assert "downloading the model" in text
    assert "31 of 93 MB" in text
    assert "checking the model" in text


def test_a_line_for_each_stage_elsewhere() -> None:
    text = shown(
        BEGUN,
        ("downloading the model", 9, 93_000_000),
        ("checking the model", 0, 0),
        terminal=False,
    )
    assert text == "specvino: downloading the model 93 MB\nspecvino: checking the model\n"


def test_nothing_without_a_report() -> None:
    assert shown(terminal=True) == ""
