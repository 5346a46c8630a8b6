"""Dialects and support levels, both ways."""

import pytest


@pytest.fixture
def ovms(spec):
    return spec.dialects["ovms"]["fields"]["chat"]


def test_a_missing_dialect(spec, only):
    del spec.dialects["vllm"]
    only("dialects", "openapi/dialects/vllm.yaml does not exist")


def test_a_surplus_dialect(spec, only):
    spec.dialects["tgi"] = spec.dialects["vllm"]
    only("dialects", "tgi", "is not one of")


def test_an_unknown_header(spec, only):
    spec.dialects["vllm"]["ports"] = 1
    only("dialects", "vllm", "'ports' is not a known key")


@pytest.mark.parametrize(("part", "path"), [("request", "temperature"), ("response", "usage"), ("stream", "usage")])
def test_a_field_without_a_level(ovms, only, part, path):
    del ovms[part][path]
    name = f"chat.{path}" if part == "request" else f"chat.{part}.{path}"
    only("support", f"ovms {name}: needs a level")


def test_a_field_that_does_not_exist(ovms, only):
    ovms["request"]["temprature"] = "full"
    only("support", "ovms chat request temprature", "there is no such field")


def test_an_endpoint_that_does_not_exist(spec, only):
    spec.dialects["ovms"]["fields"]["chats"] = {"request": {"model": "full"}}
    only("support", "ovms chats: there is no such endpoint")


@pytest.mark.parametrize(("part", "level"), [("request", "absent"), ("response", "ignored"), ("stream", "refused")])
def test_the_levels_of_each_part(ovms, only, part, level):
    ovms[part]["model"] = level
    only("support", f"the level {level!r} is not one of")


def test_partial_without_a_note(ovms, only):
    ovms["request"]["temperature"] = "partial"
    only("support", "ovms chat.temperature", "partial needs a note")


def test_an_unquoted_comma_in_a_note(ovms, only):
    ovms["request"]["temperature"] = {"level": "full", "note": "Up to 2", "not more": None}
    only("support", "ovms chat.temperature", "'not more' is not known")


def test_what_it_accepts_is_a_schema(ovms, only):
    ovms["request"]["temperature"] = {"level": "full", "accepts": {"maximum": "2"}}
    only("support", "ovms chat.temperature", "accepts is not a valid JSON Schema")
