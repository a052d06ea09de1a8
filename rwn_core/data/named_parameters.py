"""Records that are made with named parameters alone, and say so where they are not."""

from __future__ import annotations

from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import Any, Self

from rwn_core.errors import ParameterError


class NamedParameters:
    """Base of frozen dataclasses with named parameters: a wrong call is refused."""

    __slots__ = ()

    def __new__(cls, *args: Any, **given: Any) -> Self:
        """Refuse values without a name, unknown names and missing ones."""
        known = {each.name: each for each in fields(cls) if each.init}  # type: ignore[arg-type]
        example = ", ".join(f"{name}=..." for name in list(known)[:3])
        call = f"{cls.__name__}({example})"
        if args:
            raise ParameterError(f"Give the parameters by their names: {call}.")
        for name in given:
            if name not in known:
                near = get_close_matches(name, known, n=1, cutoff=0.3)
                meant = f"; {near[0]} is near" if near else ""
                raise ParameterError(
                    f"{cls.__name__} has no parameter {name}{meant}; it has: {', '.join(known)}."
                )
        lacking = [
            name
            for name, each in known.items()
            if each.default is MISSING and each.default_factory is MISSING and name not in given
        ]
        if given and lacking:  # a copy is made without any
            raise ParameterError(f"{cls.__name__} needs {' and '.join(lacking)}, too: {call}.")
        return super().__new__(cls)
