"""The engine on OpenVINO GenAI. The folder of a module determines the process in which it runs.

`engine.py`, `generation.py` and `client` run in the server. `preprocess`, `worker` and `full_logits` are processes, and
so is each module of `sandbox`; `native` is shared code around OpenVINO, and `messages` are the messages between them
and the server. The processes are needed because GenAI 2026.4.1 holds the GIL (decision 002).
"""
