"""What a finding says."""

import pytest
from support.reports import exchange

from specvino.conformance.dialect import Dialect
from specvino.conformance.session.steps import expect
from specvino.conformance.verdict import Failed


def test_a_status_is_named_once() -> None:
    with pytest.raises(Failed, match=r"^the status is 200, not 400 or 404$"):
        expect(exchange(), {"refused": ["json", "validation", "unknown_model"]}, Dialect("openai"), "chat")
