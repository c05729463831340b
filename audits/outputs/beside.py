"""What an object carries beside its contents: attributes, metadata, names, stored zeros, the cause of an exception.

A subclass of a number, an array with an attribute or a data frame with `attrs` shows its reader more than its numbers.
"""

import sys
from array import array
from collections import defaultdict, deque
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from enum import Enum
from typing import Any

import numpy as np

_STORED = {"blocksize", "col", "coords", "data", "indices", "indptr", "maxprint", "offsets", "row", "rows"}
"""Attributes in which sparse matrices hold their contents."""
_OF_ERRORS = ("__cause__", "__context__", "filename", "filename2", "name", "path")
_ARRAYS_OF_OTHERS = {"cupy", "dask", "jax", "jaxlib", "tensorflow", "xarray"}


def beside(value: Any) -> dict[str, Any]:
    """Return what `value` carries beside its contents, by name; nothing for most values.

    Guarantee: instance attributes, slots of classes outside the standard library, and what the table of the supported
    libraries in this file lists. Memory that a view shares with a larger array is not read, nor are class attributes.

    >>> class Named(float):
    ...     pass
    >>> named = Named(1.0)
    >>> named.label = "a"
    >>> beside(named), beside(1.0)
    ({'label': 'a'}, {})
    """
    kind = type(value)
    if kind.__module__ == "builtins" and not isinstance(value, BaseException | memoryview):
        return {}
    return {name: part for name, part in (_attributes(value) | _carried(value)).items() if part is not None}


def layout(value: Any) -> dict[str, Any]:
    """Return the order of axes in memory and whether a mask is stored, for the output of one run.

    A batch of runs is left out: there both depend on how many runs one call has, and on all of them together.

    >>> layout(np.zeros((2, 3))), layout(np.zeros((3, 2)).T)
    ({}, {'order': '01'})
    """
    facts: dict[str, Any] = {}
    if isinstance(value, np.ma.MaskedArray):
        facts["mask stored"] = np.ma.getmask(value) is not np.ma.nomask
    strides: Any = value.strides if isinstance(value, np.ndarray) else None
    if type(value).__module__.partition(".")[0] == "torch" and "strided" in str(getattr(value, "layout", "")):
        strides = getattr(value, "stride")()  # noqa: B009 - a tensor, which this module does not import
    if strides is not None and list(strides) != sorted(strides, reverse=True):
        facts["order"] = "".join(map(str, np.argsort(strides, kind="stable")))
    return facts


def _attributes(value: Any) -> dict[str, Any]:
    """Return the attributes of an instance that are no part of its contents."""
    if isinstance(value, Enum | type):
        return {}
    libraries = {base.__module__.partition(".")[0] for base in type(value).__mro__}
    if libraries & _ARRAYS_OF_OTHERS:
        return {}
    attributes: dict[str, Any] = dict(getattr(value, "__dict__", {}))
    for base in type(value).__mro__:
        if base.__module__.partition(".")[0] not in sys.stdlib_module_names:
            names = base.__dict__.get("__slots__", ())
            attributes |= {name: getattr(value, name, None) for name in ((names,) if isinstance(names, str) else names)}
    contents = {part.name for part in dataclass_fields(value)} if is_dataclass(value) else set()
    if isinstance(value, np.ma.MaskedArray):
        contents |= vars(np.ma.array([0.0])).keys() | {"_hardmask", "_sharedmask"}
    elif libraries & {"pandas", "scipy", "torch"}:
        contents |= _STORED | {name for name in attributes if name.startswith("_")}
    hidden = contents | {"__dict__", "__weakref__"}
    return {str(name): part for name, part in attributes.items() if name not in hidden}


def _carried(value: Any) -> dict[str, Any]:
    """Return what objects of the supported libraries carry."""
    if isinstance(value, BaseException):
        attributes = {name: getattr(value, name, None) for name in _OF_ERRORS}
        return attributes | {"__suppress_context__": value.__suppress_context__ or None}
    if isinstance(value, np.ndarray | np.generic):
        return _of_array(value)
    if isinstance(value, defaultdict):
        return {"default_factory": value.default_factory}
    if isinstance(value, deque):
        return {"maxlen": value.maxlen}
    if isinstance(value, array):
        return {"typecode": value.typecode}
    if isinstance(value, memoryview):
        return {"format": value.format, "shape": value.shape}
    for base in type(value).__mro__:
        reading = _OF_LIBRARIES.get(base.__module__.partition(".")[0])
        if reading is not None:
            return reading(value)
    return {}


def _of_array(value: Any) -> dict[str, Any]:
    """Return the metadata of a dtype, the layout of a structured one, a lock, and what fills the masked places."""
    facts: dict[str, Any] = {}
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        facts["writeable"] = False
    if value.dtype.metadata:
        facts["metadata"] = dict(value.dtype.metadata)
    if value.dtype.names is not None:
        facts["layout"] = repr(value.dtype)
    if isinstance(value, np.ma.MaskedArray):
        facts["fill_value"] = value.fill_value
    return facts


def _of_torch(value: Any) -> dict[str, Any]:
    """Return the gradient of a tensor and whether one is wanted."""
    if not hasattr(value, "is_leaf"):
        return {}
    facts = {"grad": value.grad if value.is_leaf else None, "requires_grad": bool(value.requires_grad)}
    return facts | ({"stored": int(value.coalesce().values().shape[0])} if value.is_sparse else {})


def _of_pandas(value: Any) -> dict[str, Any]:
    """Return `attrs`, flags, names and frequencies of the axes, categories that are not used, and nanoseconds."""
    facts: dict[str, Any] = {}
    if not getattr(getattr(value, "flags", None), "allows_duplicate_labels", True):
        facts["allows_duplicate_labels"] = False
    if getattr(value, "attrs", None):
        facts["attrs"] = dict(value.attrs)
    axes: list[Any] = [getattr(value, axis, None) for axis in ("index", "columns")]
    facts["frequencies"] = [axis.freqstr for axis in (*axes, value) if getattr(axis, "freqstr", None)]
    facts["names"] = [list(axis.names) for axis in (*axes, value) if hasattr(axis, "names")]
    dtypes: list[Any] = list(value.dtypes) if hasattr(value, "columns") else [getattr(value, "dtype", None)]
    facts["categories"] = [[list(d.categories), d.ordered] for d in dtypes if hasattr(d, "categories")]
    facts["nanoseconds"] = getattr(value, "nanosecond", getattr(value, "nanoseconds", None))
    small = facts["nanoseconds"]
    facts["nanoseconds"] = small if isinstance(small, int) and small else None
    return {name: part for name, part in facts.items() if part not in ([], [[None]], [[None], [None]])}


def _of_scipy(value: Any) -> dict[str, Any]:
    """Return how many zeros a sparse matrix stores, and where, and the type of its indices."""
    if not hasattr(value, "toarray"):
        return {}
    entries = value.tocoo()
    zero = np.asarray(entries.data) == 0
    facts: dict[str, Any] = {"index type": str(np.asarray(getattr(value, "indices", entries.coords[0])).dtype)}
    if zero.any():
        facts |= {
            "zeros": int(zero.sum()),
            "places": repr([np.asarray(axis)[zero].tolist() for axis in entries.coords]),
        }
    return facts


_OF_LIBRARIES = {"torch": _of_torch, "pandas": _of_pandas, "scipy": _of_scipy}
