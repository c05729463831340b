"""Values of other libraries as numpy arrays, lists and dicts, by what they offer; none of the libraries is imported."""

from typing import Any

import numpy as np


def native(value: Any) -> Any:
    """Return a value of a data library as arrays, lists or dicts; any other value as it is.

    Each result keeps what the library's object tells: type, dtypes, names and index stand in it beside the numbers.
    """
    library, _, _ = type(value).__module__.partition(".")
    if library == "numpy" or library == "builtins":
        return value
    reading = _READINGS.get(library)
    if reading is not None:
        return reading(value)
    if hasattr(value, "__array__"):
        return {"type": _named(value), "array": np.asarray(value)}
    return value


def _torch(value: Any) -> Any:
    """Return a tensor as its type and an array; a dtype that numpy lacks is widened to single precision."""
    if not hasattr(value, "detach"):
        return value
    tensor = value.detach().cpu()
    tensor = tensor if str(tensor.layout) == "torch.strided" else tensor.to_dense()
    try:
        array = tensor.resolve_conj().resolve_neg().numpy()
    except TypeError:
        array = tensor.float().numpy()
    return {"type": f"{_named(value)} {value.dtype} {value.device.type} {value.layout}", "array": array}


def _pandas(value: Any) -> Any:
    """Return a frame, series or index as its type, its index and its columns."""
    if hasattr(value, "columns"):
        names = [str(name) for name in value.columns]
        named = names if len(set(names)) == len(names) else [f"{number} {name}" for number, name in enumerate(names)]
        columns = {name: _listed(value.iloc[:, number]) for number, name in enumerate(named)}
        types = list(zip(map(repr, value.columns), map(str, value.dtypes), strict=True))
        return {"type": f"{_named(value)} {types}", "index": _index(value), "columns": columns}
    if hasattr(value, "index") and hasattr(value, "dtype"):
        described = f"{_named(value)} {value.dtype} {value.name!r}"
        return {"type": described, "index": _index(value), "values": _listed(value)}
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return {"type": f"{_named(value)} {value.dtype}", "values": _listed(value)}
    return value if hasattr(value, "year") else {"type": _named(value), "text": str(value)}


def _index(value: Any) -> Any:
    """Return the index as a list; one that only counts rows as a text."""
    index = value.index
    if type(index).__name__ == "RangeIndex":
        return f"rows from {index.start} by {index.step}"
    return _listed(index)


def _listed(value: Any) -> Any:
    """Return the values of a series or index: an array where they are plain numbers, else a list."""
    array = np.asarray(value)
    plain = isinstance(value.dtype, np.dtype) and array.dtype.kind in "biufcmM"
    return array if plain else list(value)


def _polars(value: Any) -> Any:
    """Return a frame or series as its type, schema and lists."""
    if hasattr(value, "to_dict"):
        return {"type": _named(value), "schema": str(value.schema), "columns": dict(value.to_dict(as_series=False))}
    return {"type": f"{_named(value)} {value.dtype} {value.name!r}", "values": value.to_list()}


def _arrow(value: Any) -> Any:
    """Return a table, array or scalar as its type and lists."""
    for name in ("to_pydict", "to_pylist", "as_py"):
        if hasattr(value, name):
            described = str(getattr(value, "schema", getattr(value, "type", "")))
            return {"type": f"{_named(value)} {described}", "values": getattr(value, name)()}
    return value


def _scipy(value: Any) -> Any:
    """Return a sparse matrix as its type and a dense array."""
    if not hasattr(value, "toarray"):
        return value
    return {"type": f"{_named(value)} {value.dtype}", "array": value.toarray()}


def _named(value: Any) -> str:
    """Return the full name of a value's type."""
    kind = type(value)
    return f"{kind.__module__}.{kind.__qualname__}"


_READINGS = {"torch": _torch, "pandas": _pandas, "polars": _polars, "pyarrow": _arrow, "scipy": _scipy}
