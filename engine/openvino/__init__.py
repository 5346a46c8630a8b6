"""The engine on OpenVINO GenAI. Which process a line runs in shows in its folder.

Modules that lie here run in the server: the engine and its clients of the child processes. `preprocess`, `worker`,
`grammar_process` and `trial_process` are those processes, `native` is what they share around OpenVINO, and `messages`
is what crosses between them and the server. GenAI 2026.4.1 holds Python's lock: hence the processes (decision 002).
"""
