"""Small chat templates, one for each way in which those of models differ."""

PLAIN = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}[{{ c.function.name }}({{ c.function.arguments | tojson }})]{% endfor %}"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
"""Writes any role, and calls with objects; neither tools nor reasoning."""

TAUGHT = (
    "{% if tools %}<tools>{{ tools | tojson }}{% endif %}"
    "{% for m in messages %}<{{ m.role }}>"
    "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content }}"
    "{% for c in m.tool_calls or [] %}"
    "[{{ c.id }}:{{ c.function.name }}({{ c.function.arguments | tojson }})]{% endfor %}"
    "{% if m.tool_call_id %}({{ m.tool_call_id }}){% endif %}"
    "{% endfor %}<assistant>{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}"
)
"""Shows all that there is, but knows no developer."""

STRICT = (
    "{% for m in messages %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Roles must alternate') }}{% endif %}"
    "<{{ m.role }}>{{ m.content }}{% endfor %}"
)
"""Users and assistants take turns, and nobody else is there."""

FIRST_SYSTEM = (
    "{% for m in messages %}{% if m.role == 'system' and not loop.first %}"
    "{{ raise_exception('System message must be at the beginning') }}{% endif %}"
    "<{{ m.role }}>{{ m.content }}{% endfor %}"
)

DEVELOPER = (
    "{% for m in messages %}{% if m.role == 'developer' %}# {{ m.content }}{% else %}<{{ m.role }}>{{ m.content }}"
    "{% endif %}{% endfor %}"
)

PARTS = (
    "{% for m in messages %}<{{ m.role }}>{% for part in m.content %}"
    "{% if part.type == 'image' %}(image){% elif part.type == 'text' %}{{ part.text }}{% endif %}"
    "{% endfor %}{% endfor %}"
)
"""Contents are lists of parts."""

AS_TEXT = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}[{{ c.function.name + c.function.arguments }}]{% endfor %}{% endfor %}"
)
"""Arguments are JSON text, as DeepSeek's templates have them."""

BY_MEMBERS = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}[{{ c.function.name }}"
    "{% for name, value in c.function.arguments.items() %} {{ name }}={{ value }}{% endfor %}]{% endfor %}{% endfor %}"
)
"""Arguments are objects, as Qwen3-Coder's template has them."""

NULL_CONTENT = (
    "{% for m in messages %}<{{ m.role }}>{% if m.content is none %}"
    "{% for c in m.tool_calls %}[{{ c.function.name }}{{ c.function.arguments | tojson }}]{% endfor %}"
    "{% else %}{{ m.content }}{% endif %}{% endfor %}"
)

ONE_CALL = (
    "{% for m in messages %}<{{ m.role }}>{% if m.tool_calls %}"
    "{% if m.tool_calls | length > 1 %}{{ raise_exception('One call at a time') }}{% endif %}"
    "[{{ m.tool_calls[0].function.name }}{{ m.tool_calls[0].function.arguments | tojson }}]"
    "{% else %}{{ m.content }}{% endif %}{% endfor %}"
)
"""One call in a turn, and no content beside it, as Llama's templates have it."""

SHORT_IDS = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% for c in m.tool_calls or [] %}"
    "{% if c.id | length != 9 %}{{ raise_exception('Tool call IDs should be nine letters') }}{% endif %}"
    "[{{ c.id }}:{{ c.function.name }}{{ c.function.arguments | tojson }}]{% endfor %}"
    "{% if m.tool_call_id %}({{ m.tool_call_id }}){% endif %}{% endfor %}"
)
"""As Mistral's templates have it."""

NAMED_RESULTS = (
    "{% for m in messages %}<{{ m.role }}{% if m.role == 'tool' %} {{ m.name }}{% endif %}>{{ m.content }}"
    "{% for c in m.tool_calls or [] %}"
    "[{{ c.function.name }}{{ c.function.arguments | tojson }}]{% endfor %}{% endfor %}"
)

FOR_TOOLS = (
    "{% for tool in tools %}{{ tool.function.name }};{% endfor %}{% for m in messages %}{{ m.content }}{% endfor %}"
)
"""Can't be rendered without tools, as templates of the name tool_use."""
