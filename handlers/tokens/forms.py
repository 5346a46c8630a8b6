"""The forms in which requests say what is to be tokenized, each with the fields that mean something beside it."""

from collections.abc import Iterator

from specvino.generated import models
from specvino.handlers.or_none import or_none

_TEXTS = frozenset(["add_special_tokens", "max_length", "pad_to_max_length", "padding_side"])
_TEMPLATE = ("tools", "chat_template", "chat_template_kwargs", "add_generation_prompt", "continue_final_message")

# The first that is given counts.
FORMS = {
    "messages": frozenset(["add_special_tokens", *_TEMPLATE]),
    "content": frozenset(["add_special", "parse_special"]),
    "prompt": _TEXTS,
    "text": _TEXTS,
}


def form_of(body: models.TokenizeRequest) -> str:
    """Returns the name of the field that holds what is to be tokenized."""
    return next(name for name in FORMS if _given(body, name))


def without_effect(body: models.TokenizeRequest, form: str, *, several: bool) -> Iterator[str]:
    """Yields the given fields that mean nothing beside this form; of several texts no token's text is told."""
    others = (name for name in FORMS if name != form)
    unread = dict.fromkeys(name for fields in FORMS.values() for name in sorted(fields - FORMS[form]))
    of_one = ("return_token_strs", "with_pieces") if several else ()
    for name in (*others, *unread):
        if _given(body, name):
            yield name
    for name in of_one:
        if or_none(getattr(body, name)):
            yield name


def _given(body: models.TokenizeRequest, name: str) -> bool:
    return or_none(getattr(body, name)) is not None
