"""Does a vision-language pipeline crash where it shall repeat a prompt with logprobs, or answer with no token?"""

import signal

from pipelines import in_a_child
from verdict import report

BODY = """
from pipelines import TINY_VISION, config, finish, pipeline
pipe = pipeline(TINY_VISION)
finish(pipe, pipe.add_request(0, "hello", config(apply_chat_template=False, {})))
"""
TRIES = {"nothing": "max_new_tokens=3", "echo": "echo=True, logprobs=1", "no answer": "echo=True, max_new_tokens=0"}
ended = {name: in_a_child(BODY.format(arguments)) for name, arguments in TRIES.items()}
if ended["nothing"] != 0:
    raise SystemExit(f"an ordinary request ended with {ended['nothing']}")
crashed = [name for name, code in ended.items() if code == -signal.SIGSEGV]
report(bool(crashed), f"SIGSEGV for: {', '.join(crashed) or 'none'}")
