"""The `rwn` command: one file a command."""
