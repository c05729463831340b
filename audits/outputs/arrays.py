"""Arrays of numbers as columns: the values, and what an array holds beside them.

Beside the value stand the sign of each zero, the bits of each NaN, the mask, and the part of a wide number that a
double cannot hold.
"""

import numpy as np

from audits.outputs.fields import MARK, NUMBER, Fields
from dpaudit.model.mechanism import Array

NUMERIC = "biufcmM"
"""The kinds of dtype that are numbers."""

_PAYLOAD = np.uint64((1 << 52) - 1)
_WHOLE = 2**53


def array_fields(array: Array, path: str = "") -> Fields:
    """Return the columns of an array of numbers, runs axis first. Shape of each: (runs, entries)."""
    fields = Fields()
    if isinstance(array, np.ma.MaskedArray):
        fields[f"{MARK}{path} mask"] = _flat(np.ma.getmaskarray(array)).astype(float)
        array = np.ma.getdata(array)
    plain = np.asarray(array)
    if plain.dtype.kind == "c":
        fields |= _real(np.real(plain), f"{path}.real") | _real(np.imag(plain), f"{path}.imag")
    else:
        fields |= _real(plain.view(np.int64) if plain.dtype.kind in "mM" else plain, path)
    return fields


def _real(array: Array, path: str) -> Fields:
    """Return the values of real numbers and their marks; a mark that is 0 for every run is left out."""
    flat = _flat(array)
    values = flat.astype(np.float64)
    fields = Fields({f"{NUMBER}{path}": values})
    if array.dtype.kind == "f":
        marks = {"negative zero": (values == 0) & np.signbit(values), "NaN bits": _nan_bits(flat)}
    else:
        marks = {}
    if array.dtype.itemsize >= 8 and array.dtype != np.float64 and array.dtype.kind in "iuf":
        marks["rest"] = _rest(flat, values)
    fields |= {f"{MARK}{path} {name}": mark.astype(float) for name, mark in marks.items() if mark.any()}
    return fields


def _nan_bits(flat: Array) -> Array:
    """Return sign and payload of each NaN as one number, 0 elsewhere; the default NaN is 2^51."""
    if flat.dtype != np.float64:
        flat = flat.astype(np.float64)
    bits = np.ascontiguousarray(flat).view(np.uint64)
    payload = (bits & _PAYLOAD).astype(np.float64)
    return np.where(np.isnan(flat), np.where(np.signbit(flat), -payload, payload), 0.0)


def _rest(flat: Array, values: Array) -> Array:
    """Return number minus double, 0 where the double holds the number."""
    differences = np.zeros(flat.shape)
    if flat.dtype.kind == "f":
        finite = np.isfinite(values)
        differences[finite] = (flat[finite] - values[finite].astype(flat.dtype)).astype(float)
        return differences
    for index in np.argwhere(np.abs(values) > _WHOLE):
        row = tuple(index)
        differences[row] = float(int(flat[row]) - int(values[row]))
    return differences


def _flat(array: Array) -> Array:
    """Return one row a run."""
    return array.reshape(len(array), -1)
