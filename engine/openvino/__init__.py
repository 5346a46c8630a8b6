"""The engine on OpenVINO GenAI. The folder of a module shows in which process it runs.

`engine.py`, `generation.py` and `client` run in the server. `preprocess`, `worker` and `full_logits` are processes, and
so is each module of `sandbox`; `native` is what they share around OpenVINO, and `messages` is what they and the server
send to each other. GenAI 2026.4.1 holds Python's lock: hence the processes (decision 002).
"""
