"""The page of commands: every argument and option as the command line itself knows them."""

from __future__ import annotations

from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer

from docs.docstrings import one_line
from rwn_cli.main import app

_BEGINNING = """
# Commands

What `rwn COMMAND --help` says. [How to use them](../how-to/use-the-command-line.md) has examples,
and what the exit codes mean.
"""


def page() -> str:
    """The page's text."""
    return "\n\n".join([_BEGINNING.strip(), *_entries(app, "")])


def _entries(commands: typer.Typer, before: str) -> list[str]:
    """An entry for each command, and for those of each group after its own words."""
    group: Any = typer.main.get_command(commands)
    callbacks = {
        each.name or str(getattr(each.callback, "__name__", "")): each.callback
        for each in commands.registered_commands
    }
    groups = {each.name: each.typer_instance for each in commands.registered_groups}
    parts = []
    shown = {name: each for name, each in group.commands.items() if not each.hidden}
    for name, command in shown.items():
        inner = groups.get(name)
        if inner is None:
            parts.append(_entry(before + name, command, get_type_hints(callbacks[name])))
        else:
            parts.append(f"## `rwn {before}{name}`\n\n{one_line(str(command.help))}")
            parts += _entries(inner, f"{before}{name} ")
    return parts


def _entry(name: str, command: Any, types: dict[str, Any]) -> str:
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    usage = " ".join(["rwn", name, *map(_argument, arguments), "[OPTIONS]"])
    words = "\n\n".join(one_line(part) for part in str(command.help).split("\n\n"))
    rows = [_row(each, types[each.name]) for each in command.params]
    table = "\n".join(["| argument, option | value | meaning |", "|---|---|---|", *rows])
    return f"## `rwn {name}`\n\n```\n{usage}\n```\n\n{words}\n\n{table}"


def _argument(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name}]"


def _row(param: Any, kind: Any) -> str:
    words = param.help or ""
    if param.param_type_name == "argument":
        return f"| `{_argument(param)}` | {_value(kind)} | {_cell(words)} |"
    named = ", ".join(f"`{option}`" for option in param.opts)
    value = "" if param.is_flag else param.metavar or _value(kind)
    return f"| {named} | {_cell(value)} | {_cell(words + ' Needed.' * param.required)} |"


def _value(kind: Any) -> str:
    """What a value of this type looks like."""
    inner = [each for each in get_args(kind) if each is not NoneType]
    if get_origin(kind) is Literal:
        return " or ".join(f"`{word}`" for word in get_args(kind))
    if inner:
        return _value(inner[0])
    return {"int": "whole number", "float": "number", "Path": "file"}.get(kind.__name__, "text")


def _cell(text: str) -> str:
    return one_line(text).replace("|", "\\|")
