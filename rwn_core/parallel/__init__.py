"""Where work runs: threads, processes, and how much memory there is for it."""
