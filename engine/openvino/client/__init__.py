"""The server's side of the child processes, and what a request needs before and behind them."""
