"""Commands for maintainers: figures of the code, and checks that are not tests."""
