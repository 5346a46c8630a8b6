"""Specvino renders the templates as transformers does."""

import pytest

from templates.conversations import NAMES
from templates.corpus import corpus
from templates.exceptions import KNOWN
from templates.rendering import Compared, compared


def test_the_corpus_is_whole() -> None:
    assert len(corpus()) >= 70


@pytest.mark.parametrize("conversation", NAMES)
@pytest.mark.parametrize("name", corpus())
def test_a_conversation_is_rendered_as_by_transformers(name: str, conversation: str) -> None:
    different = compared(corpus()[name], conversation) is Compared.DIFFERENT
    assert different == KNOWN.different(name, conversation)


def test_exceptions_are_about_templates_that_there_are() -> None:
    assert corpus().keys() >= KNOWN.templates
