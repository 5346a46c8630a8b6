"""Chat templates of requests: programs that cost time, memory, or their process."""

from soak.hostile.attacker import Attack, Attacker

_DOUBLED = (
    "{% set ns = namespace(t='a' * 1000) %}{% for i in range(60) %}{% set ns.t = ns.t ~ ns.t %}{% endfor %}{{ ns.t }}"
)
_LOOPS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
_DEEP = "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}"


async def programs(attacker: Attacker) -> None:
    for template in (_DOUBLED, _LOOPS, _DEEP, "{{ " * 1000, "{{ ''.__class__.__mro__[1].__subclasses__() }}"):
        # Nothing remembered answers it.
        await attacker.chat("chat_template", chat_template=f"{template}{{# {attacker.unique()} #}}", leave_at=8.0)


ATTACKS: tuple[Attack, ...] = (programs,)
