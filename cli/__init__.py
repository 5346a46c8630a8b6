"""The `specvino` command: one file per subcommand, each importing what it needs only when it runs."""
