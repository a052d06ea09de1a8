"""The probability of one released value, read from a law's table."""

from typing import Any

from rwn_core.laws.law import Law


def probability(law: Law, record: int, name: str, value: Any) -> float:
    """P(released value of this record's variable is `value`); missing is None."""
    table, values = law.table(name)
    return float(table[record, values.index(value)]) if value in values else 0.0
