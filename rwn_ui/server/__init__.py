"""The app as a process: its launcher, its options, its files."""
