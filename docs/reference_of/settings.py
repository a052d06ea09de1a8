"""The page of settings: the files that people write, and what the environment says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from docs.docstrings import entries
from rwn_core.data import schema
from rwn_core.data.plain import file_fields
from rwn_core.data.schema import Question
from rwn_core.data.variable import Kind, Role, Variable
from rwn_core.evaluation.registered_analysis import KINDS, Analysis
from rwn_core.reporting.scenario import SavedSearch, Scenario
from rwn_core.tuning import Limit, Plan, Setting
from rwn_ui.server.safety import SAFE_OPTIONS

Table = Mapping[str, str]

_OF_A_VARIABLE = {
    "name": "The column's name. Needed.",
    "kind": f"What its values are: {', '.join(Kind)}. Needed.",
    "role": f"What it is to an intruder or a survey: {', '.join(Role)}; identifiers and households "
    "are never released. A table has at most one sampling weight and one household.",
}
_OF_A_QUESTION = {
    "response": "The variable that is explained.",
    "predictors": "The list of variables that explain it.",
}
_OF_A_SCENARIO = {
    "format": f'`"{Scenario.file_format}"`. Needed.',
    "name": "What the people who propose it call it.",
    "note": "Free text of theirs.",
    "setting": "A table: what a release is made with.",
    "sweep": "A table: which settings are tried, and what is done at each.",
    "limit": "A table each: the most that is tolerated of a measure. The policy is kept where all "
    "limits hold.",
}
_OF_A_SETTING = {
    "method": "Key of the [method](methods.md); `rwn` if left out.",
    "parameters": "A table of the method's parameters, by their names.",
    "weights": "A table of weights in the distance, by variable; the schema's for the others.",
    "precision": "A table of steps that released values are multiples of, by variable.",
    "slices": "A list of lists of variables that travel together; every other variable stands "
    "alone. The schema's groups if left out.",
}
_OF_A_SWEEP = {
    "method": "Key of the method, or a list of several.",
    "axes": "A table: for each parameter the list of its values; every combination is tried.",
    "weights": "A list of tables of weights to try.",
    "precision": "A list of tables of steps to try; an empty one rounds nothing.",
    "slices": 'A list of lists of slices to try: `[]` lets each variable stand alone, `"own"` '
    "stands for the schema's groups.",
}
_OF_AN_ANALYSIS = {
    "kind": f"What it is: {', '.join(KINDS)}. Needed.",
    "measure": "Key of a [measure](measures.md), for the kind of that name.",
}
ENVIRONMENT: Table = {
    "RWN_THREADS": "How many processors a search may use; all of them if left out. It changes the "
    "time, never the release.",
    "RWN_MEMORY": "Gigabytes that a search may use; most of what is free if left out. More is "
    "refused before the work starts.",
    "RWN_NICENESS": "By how much the app's work in the background stands back behind other "
    "programs, 0 to 19; 19 if left out.",
    "RWN_LAUNCHED": "Set by `rwn app`: the server's standard input tells it one-time codes, and "
    "ends with its launcher, and the server with it.",
    "RWN_ENTRY": "Set by `rwn app`: what lets in, `code`, `proxy` or `everyone`; the first, and so "
    "nothing without a launcher, if left out.",
    "RWN_PROCESS_TO_FORK": "Set by the app for the process that its workers are forks of.",
    "RWN_FILE": "The table that the app opens first; `rwn app FILE` sets it.",
    "RWN_TOKEN_FILE": "The file with the secret that a proxy sends with each request; `--host` "
    "needs it ([how-to](../how-to/deploy.md)).",
    "RWN_TOKEN": "Held that secret in earlier versions; `--host` refuses it, since each process "
    "that is started would inherit it.",
    "RWN_CLASSROOM": "Set by `rwn app --classroom`: large type, and no file is taken.",
    "RWN_LOGIN": "1 lets nobody in who has not logged in ([how-to](../how-to/deploy.md)).",
    "RWN_DECISIONS": "A folder with frozen decisions (TOML): Compare shows the latest five near a "
    "new one.",
    "RWN_PROJECTS": "The folder where the app keeps the projects that are saved for a table.",
    "XDG_STATE_HOME": "Where that folder lies if RWN_PROJECTS is left out; .local/state in the "
    "home folder without it.",
    "NUMBA_CACHE_DIR": "Where the compiled search is kept; inside the package if left out.",
    "XDG_CACHE_HOME": "Where it is kept if the package's folder cannot be written.",
    "OPENBLAS_NUM_THREADS": "Threads of a matrix product in the app; 1 if left out.",
    "PYTHONMALLOC": "Who hands out Python's memory in the app; the system (`malloc`) if left out, "
    "so that MALLOC_PERTURB_ holds for all of it.",
    "MALLOC_PERTURB_": "With what glibc writes over the app's freed memory; 165 if left out. 0 "
    "leaves what was there.",
    "GLIBC_TUNABLES": "`glibc.malloc.tcache_count=0` if left out: no thread of the app keeps freed "
    "memory for itself, which glibc would not write over.",
    "ARROW_DEFAULT_MEMORY_POOL": "Who hands out Arrow's memory in the app; `system` if left out.",
    "RWN_REQUIRE_BROWSER": "Tests: 1 makes a missing Chromium a failure.",
    "RWN_TEST_SEED": "Tests: what the keys of the statistical tests are made from.",
}
"""Every variable of the environment that the program or its tests read."""


def in_file(record: type) -> list[str]:
    """The names that a record's fields have in a file."""
    return list(file_fields(record)[1])


def page() -> str:
    """The page's text."""
    options = {name: f"`{_written(value)}`" for name, value in SAFE_OPTIONS.items()}
    parts = [
        "# Settings",
        "The parameters of masking methods are on [a page of their own](methods.md).",
        "## Schema file",
        "TOML; `--schema FILE.toml` and `rwn.read(file, schema=FILE)` "
        "([how-to](../how-to/describe-variables.md)). For each column a `[[variable]]`:",
        _table("field", _of(Variable, schema._FIELDS, _OF_A_VARIABLE)),
        "What holds of every believable record, as `edit_rules` before the first variable: a list "
        "of texts such as `'age >= 15 or employed == \"no\"'`.",
        "The regression to keep, in `[question]`:",
        _table("field", _of(Question, ("response", "predictors"), _OF_A_QUESTION)),
        "## Scenario file",
        "TOML; the Compare page saves it, `--scenario FILE.toml` takes it "
        "([how-to](../how-to/find-a-setting.md)). It holds no data.",
        _table("field", _of(Scenario, sorted(["format", *in_file(Scenario)]), _OF_A_SCENARIO)),
        "In `[setting]`:",
        _table("field", _of(Scenario, sorted(in_file(Setting)), _OF_A_SETTING)),
        "In `[sweep]`:",
        _table("field", _of(Plan, sorted(in_file(SavedSearch)), _OF_A_SWEEP)),
        "In each `[[limit]]`:",
        _table("field", _of(Limit, (each.name for each in fields(Limit)))),
        "In each `[[analysis_plan]]`:",
        _table("field", _of(Analysis, in_file(Analysis), _OF_AN_ANALYSIS)),
        "## Environment",
        _table("variable", ENVIRONMENT),
        "## Server",
        "Options of Streamlit that `rwn app` gives as flags, so that no other file undoes them:",
        _table("option", options, "value"),
    ]
    return "\n\n".join(parts)


def _of(record: type, names: Iterable[str], own: Table | None = None) -> dict[str, str]:
    """What each field means: in words of this page, or in those of the record.

    Raises
    ------
    KeyError
        A field has no words in either.
    """
    words = {name: text for name, (_, text) in entries(record).items()} | dict(own or {})
    known = names if not isinstance(names, set | frozenset) else sorted(names)
    found = {name: words[name] for name in known}
    empty = [name for name, text in found.items() if not text]
    if empty:
        raise KeyError(empty[0])
    return found


def _table(first: str, rows: Table, second: str = "meaning") -> str:
    lines = [f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in rows.items()]
    return "\n".join([f"| {first} | {second} |", "|---|---|", *lines])


def _written(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
