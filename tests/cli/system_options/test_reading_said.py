"""What a command line says here."""

from specvino.cli.system_options.reading import Given, Read


def test_the_model_comes_last_behind_two_hyphens() -> None:
    options = Read(
        [Given("MODEL", "-m", "MODEL"), Given("--port", "1", "--rest_port"), Given("--insecure", None, "-i")]
    )
    assert options.arguments == ["--port", "1", "--insecure", "--", "-m"]


def test_models_that_are_two_stay_two() -> None:
    same, other = Given("MODEL", "m", "MODEL"), Given("MODEL", "n", "MODEL")
    assert Read([same, same]).arguments == ["--", "m"]
    assert Read([same, other]).arguments == ["--", "m", "n"]


def test_under_which_name_an_option_was_given() -> None:
    options = Read([Given("--port", "1", "--rest_port")])
    assert options.under("--port") == "--rest_port"
    assert options.under("--host") == "--host"
