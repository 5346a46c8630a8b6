from specvino.portal.pages.matrix import css


def test_a_name_stays_within_its_quotes() -> None:
    assert css('a "b"\n</style>\\') == r"a \22 b\22 \a \3c /style>\5c "
