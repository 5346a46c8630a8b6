"""Nothing is promised without a proof, and the table in the documentation says how it is."""

from proofs.fields import fields
from proofs.table import TABLE, proofs, render

SUPPORTED = {name for name, field in fields().items() if field.supported}
PROVED = {field for field, _ in proofs()}


def test_each_supported_field_has_a_proof() -> None:
    assert sorted(SUPPORTED - PROVED) == []


def test_no_proof_is_of_a_field_that_is_not_supported() -> None:
    assert sorted(PROVED - SUPPORTED) == []


def test_the_table_is_up_to_date() -> None:
    assert TABLE.read_text("utf-8") == render(), "write it anew: PYTHONPATH=tests .venv/bin/python -m proofs.table"
