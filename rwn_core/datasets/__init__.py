"""Large tables: what a run over them costs, and compiling ahead."""
