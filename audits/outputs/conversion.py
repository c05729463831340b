"""The conversion of whatever a function returns into columns of numbers, one row a run.

A batch is an array with the runs axis first, a mapping, data frame or record of such arrays, or a sequence with one
output a run. The type of a whole batch (its container, dtype and names) is a column only where a call returned one
run: in a larger batch one rare run can change the type of all the others.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from audits.outputs.arrays import NUMERIC, array_fields
from audits.outputs.beside import beside, layout
from audits.outputs.fields import KIND, Fields, kind_of, of_records, stacked
from audits.outputs.foreign import native
from audits.outputs.values import described, record
from dpaudit.errors import OutputError

_INT64 = 2**63


def columns_of(outputs: Any, n_runs: int) -> Fields:
    """Return the columns of the outputs that one call returned for `n_runs` runs.

    Guarantee: the row of a run depends on its own output alone, unless the function itself makes the outputs of a call
    alike, as a common dtype does.
    Raises: OutputError: another number of outputs. UnsupportedError: outputs of a type that has no reading.

    >>> sorted(columns_of(np.array([0.5, -0.0]), 2))
    ['mark  negative zero', 'number ']
    """
    return _columns(outputs, n_runs, "")


def columns_of_one(outputs: Any) -> Fields:
    """Return the columns of the output of a call for a single run, with the types of the whole.

    >>> sorted(columns_of_one(np.array([0.5])))
    ['kind  call', 'number ']
    """
    fields = _columns(outputs, 1, "")
    fields[f"{KIND} call"] = np.full((1, 1), kind_of(_types(outputs)))
    return Fields(fields | carried_columns(outputs))


def carried_columns(outputs: Any) -> Fields:
    """Return the columns of what a batch and its parts carry beside their contents, for a call of one run."""
    entries = {name: entry for path, part in _carried(outputs, "") for name, entry in record(part, path).items()}
    return of_records([entries]) if entries else Fields()


def _carried(outputs: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield what a batch and its parts carry, each with its path."""
    for name, part in beside(outputs).items():
        yield f"{path}!{name}", part
    for name, part in (_parts(outputs) or {}).items():
        yield from _carried(part, f"{path}.{name}")


def names_of(outputs: Any) -> tuple[str, ...]:
    """Return the names of the parts of a batch in their order; none for a batch without parts."""
    return tuple(_parts(outputs) or ())


def require_runs(returned: int, n_runs: int) -> None:
    """Refuse the outputs of another number of runs than was asked for.

    Raises: OutputError: the numbers differ.
    """
    if returned != n_runs:
        raise OutputError(
            f"Expected outputs of n_runs={n_runs} runs, runs axis first; the function returned {returned}. "
            "It is called as function(data, rng, n_runs)."
        )


def _columns(outputs: Any, n_runs: int, path: str) -> Fields:
    """Return the columns of one part of a batch."""
    parts = _parts(outputs)
    if parts is not None:
        fields = Fields({f"{KIND}{path} part": np.ones((n_runs, 1))})
        for name, part in parts.items():
            fields |= _columns(part, n_runs, f"{path}.{name}")
        return fields
    rows = _rows(outputs)
    require_runs(len(rows), n_runs)
    if isinstance(rows, np.ndarray) and rows.dtype.kind in NUMERIC:
        return array_fields(rows, path)
    return _by_type(list(rows), path)


def _parts(outputs: Any) -> dict[str, Any] | None:
    """Return the parts of a batch that holds one array a name, None for a batch with one entry a run."""
    if isinstance(outputs, Mapping):
        return {str(name): part for name, part in outputs.items()}
    read = native(outputs)
    if read is not outputs:
        return _library_parts(read)
    if is_dataclass(outputs) and not isinstance(outputs, type):
        return {part.name: getattr(outputs, part.name) for part in dataclass_fields(outputs)}
    names = getattr(outputs, "_fields", None)
    if isinstance(outputs, tuple) and names:
        return dict(zip(names, outputs, strict=True))
    if isinstance(outputs, np.ndarray) and outputs.dtype.names is not None:
        return {name: outputs[name] for name in outputs.dtype.names}
    return None


def _library_parts(read: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays of another library's object; texts beside them describe the whole batch and are left out."""
    parts: dict[str, Any] = {}
    for name, part in read.items():
        if isinstance(part, Mapping):
            parts |= {f"{name}.{column}": values for column, values in part.items()}
        elif not isinstance(part, str):
            parts[name] = part
    return parts


def _types(outputs: Any) -> str:
    """Return the types of a batch and of its parts, with names, dtypes and shapes."""
    inside = [f"{name}: {_types(part)}" for name, part in (_parts(outputs) or {}).items()]
    read = native(outputs)
    told = [part for part in read.values() if isinstance(part, str)] if read is not outputs else []
    return "\n".join((described(outputs), *told, *inside))


def _rows(outputs: Any) -> Any:
    """Return a batch as an array or a list with one entry a run."""
    if isinstance(outputs, np.ndarray) and outputs.ndim:
        return outputs
    single = isinstance(outputs, str | bytes | np.ndarray | set)
    if isinstance(outputs, Sequence) and not single:
        return outputs
    if isinstance(outputs, Iterable) and hasattr(outputs, "__len__") and not single:
        return list(outputs)
    kind = type(outputs)
    raise OutputError(
        f"Expected the outputs of many runs, runs axis first, got one value of type {kind.__module__}."
        f"{kind.__qualname__}: {outputs!r:.80}. The function is called as function(data, rng, n_runs)."
    )


def _by_type(rows: list[Any], path: str) -> Fields:
    """Return the columns of a list with one output a run; outputs of one type are read together."""
    groups: dict[Any, list[int]] = {}
    for run, row in enumerate(rows):
        groups.setdefault(_group(row), []).append(run)
    parts = [(_together if key else _one_by_one)([rows[run] for run in runs], path) for key, runs in groups.items()]
    return parts[0] if len(parts) == 1 else stacked(parts, list(groups.values()))


def _group(row: Any) -> Any:
    """Return what the outputs that are read together have in common; None for outputs that are read alone."""
    kind = type(row)
    if kind is int:
        return (int,) if -_INT64 <= row < _INT64 else None
    if kind in (float, bool):
        return (kind,)
    if kind is np.ndarray and row.dtype.kind in NUMERIC and not row.dtype.metadata:
        return (np.ndarray, row.dtype.str, row.shape, row.flags.writeable, layout(row).get("order", ""))
    return None


def _together(members: list[Any], path: str) -> Fields:
    """Return the columns of numbers or arrays of one type."""
    fields = array_fields(np.array(members), path)
    first = members[0]
    lock = " read-only" if isinstance(first, np.ndarray) and not first.flags.writeable else ""
    order = layout(first).get("order", "")
    fields[f"{KIND}{path}"] = np.full((len(members), 1), kind_of(described(first) + lock + order))
    return fields


def _one_by_one(members: list[Any], path: str) -> Fields:
    """Return the columns of outputs of any type."""
    fields = of_records([record(member) for member in members])
    return Fields({_prefixed(name, path): column for name, column in fields.items()}) if path else fields


def _prefixed(name: str, path: str) -> str:
    """Return a column's name inside a part."""
    word, _, inside = name.partition(" ")
    return f"{word} {path}{inside}"
