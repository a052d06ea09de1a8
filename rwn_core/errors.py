"""What can go wrong, in the words a person reads."""


class RWNError(Exception):
    """Any refusal of this program; its text is one sentence that names what to change."""


class InputError(RWNError, ValueError):
    """A file or a table is refused."""


class SchemaError(InputError):
    """A description of the variables is refused."""


class ParameterError(RWNError, ValueError):
    """A parameter of a method, a measure or a command is refused."""


class NotApplicable(RWNError):
    """A measure has no answer for this table; the reason is a normal result.

    Parameters
    ----------
    reason : str
        One sentence.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ReleaseError(RWNError):
    """A release may not be, or could not be, written."""
