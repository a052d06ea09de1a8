"""The browser side: what a user chooses, and how readings are shown."""
