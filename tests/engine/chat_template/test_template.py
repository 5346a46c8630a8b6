"""Rendering as transformers does it."""

import re
from datetime import datetime

import pytest

from specvino.engine.chat_template.template import Template, TemplateRefusal

MESSAGES = [{"role": "user", "content": "<a> & 'é'"}]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("{{ messages[0].content }}", "<a> & 'é'"),
        ("{{ messages | tojson }}", '[{"role": "user", "content": "<a> & \'é\'"}]'),
        ("{{ messages[0].content | tojson(ensure_ascii=True) }}", "\"<a> & '\\u00e9'\""),
        ("{{ {'b': 1, 'a': [1]} | tojson(indent=2) }}", '{\n  "b": 1,\n  "a": [\n    1\n  ]\n}'),
        ("{{ {'b': 1, 'a': 2} | tojson(separators=(',', ':'), sort_keys=True) }}", '{"a":2,"b":1}'),
        ("a\n  {% if true %}\nb\n  {% endif %}\nc", "a\nb\nc"),
        ("{% for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}{% endfor %}", "01"),
        ("{% generation %}{{ bos_token }}{% endgeneration %}", "<s>"),
        ("{% set found = [] %}{{ found.append(1) or '' }}{{ found }}", "[1]"),
        ("{{ tools }}{{ documents }}{{ add_generation_prompt }}{{ unknown }}", "NoneNoneTrue"),
        ("{{ strftime_now('%Y') }}", str(datetime.now().year)),
    ],
)
def test_what_it_writes(text: str, written: str) -> None:
    assert Template(text, {"bos_token": "<s>"}).render(MESSAGES, []) == written


def test_what_a_request_sets() -> None:
    template = Template("{{ bos_token }}{{ a }}{{ messages | length }}", {"bos_token": "<s>"})
    assert template.render(MESSAGES, variables={"a": 1, "bos_token": "", "messages": []}) == "11"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{% if %}", "line 1: Expected an expression"),
        ("\n{% for %}", "line 2: "),
        ("{{ " + "(" * 5000 + " }}", "RecursionError: "),
    ],
)
def test_a_text_that_is_no_template(text: str, reason: str) -> None:
    with pytest.raises(TemplateRefusal, match=f"^{re.escape(reason)}"):
        Template(text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{{ raise_exception('Roles must\nalternate') }}", "Roles must alternate"),
        ("{{ 'a' + none }}", "TypeError: "),
        ("{{ 1 / 0 }}", "ZeroDivisionError: "),
        ("{{ messages.x.y }}", "'list object' has no attribute 'x'"),
        ("{{ ''.__class__.__mro__ }}", "access to attribute '__class__' of 'str' object is unsafe."),
        ("{{ range(999999999) }}", "OverflowError: "),
    ],
)
def test_what_can_t_be_rendered(text: str, reason: str) -> None:
    with pytest.raises(TemplateRefusal, match=f"^{re.escape(reason)}"):
        Template(text).render(MESSAGES)


def test_a_reason_is_short() -> None:
    with pytest.raises(TemplateRefusal) as error:
        Template("{{ raise_exception(messages[0].content * 999) }}").render(MESSAGES)
    assert len(str(error.value)) == 500
