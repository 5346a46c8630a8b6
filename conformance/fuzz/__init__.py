"""Generated requests by Schemathesis, for any server: all its checks and ours, and verification of refusals."""
