"""Outputs of forty kinds: each that holds the raw value is accused or refused, each honest one is not accused."""

import array
import base64
import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import json
import struct
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from audits import audit, function_case
from audits.experiment.settings import Settings
from audits.outputs.calls import as_run
from audits.outputs.conversion import columns_of
from audits.outputs.text import text_entries
from audits.outputs.values import record
from dpaudit import AuditResult, Claim, UnsupportedError
from dpaudit.model.case import Score
from dpaudit.model.mechanism import Array

ONE = Claim(epsilon=1.0, neighbours="replace_one")
Pair = collections.namedtuple("Pair", "first second")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass(frozen=True)
class Answer:
    value: Any
    parts: Any = ()


@dataclasses.dataclass
class Extended:
    value: float


class Opaque:
    def __init__(self, value: Any) -> None:
        self.value = value


class FloatWith(float):
    secret: object


class ListWith(list[float]):
    secret: object


class ArrayWith(np.ndarray[Any, np.dtype[np.float64]]):
    secret: object


class Slotted(float):
    __slots__ = ("secret",)
    secret: object


def carrying(value: Any, **attributes: object) -> Any:
    """Return `value` with attributes of its own."""
    for name, attribute in attributes.items():
        setattr(value, name, attribute)
    return value


def caused(raw: float) -> ValueError:
    """Return an exception whose cause holds a value."""
    error = ValueError("same")
    error.__cause__ = KeyError(raw)
    return error


def tensor(values: Any, kind: str | None = None) -> Any:
    """Return values as a tensor; torch takes seconds to import, which a run of other tests is spared."""
    import torch

    return torch.tensor(values, dtype=getattr(torch, kind) if kind else None)


def graded(raw: float) -> Any:
    """Return a tensor whose gradient holds a value."""
    weight = tensor([0.0], "float64").requires_grad_()
    weight.grad = tensor([raw], "float64")
    return weight


def stored_zero(stored: bool) -> scipy.sparse.csr_array:
    """Return a sparse zero, stored or not."""
    return scipy.sparse.csr_array(([0.0], ([0], [0])) if stored else (1, 1), shape=(1, 1))


_DAY = datetime.datetime.fromisoformat("2020-01-01")

KINDS: dict[str, Callable[[Array], Any]] = {
    "numpy array": lambda x: x,
    "numpy float32": lambda x: x.astype(np.float32),
    "numpy matrix of columns": lambda x: np.column_stack([np.zeros_like(x), x]),
    "numpy complex": lambda x: 1j * x,
    "numpy structured": lambda x: np.array(list(zip(x, x, strict=True)), dtype="f8,f4"),
    "numpy object array": lambda x: np.array([[float(v)] for v in x] + [[0.0, 1.0]], dtype=object)[:-1],
    "numpy texts": lambda x: np.array([f"{v:.6f}" for v in x]),
    "masked array": lambda x: np.ma.array(x, mask=x > 10),
    "torch tensor": tensor,
    "torch bfloat16": lambda x: tensor(x, "bfloat16"),
    "list of torch scalars": lambda x: [tensor(v) for v in x],
    "list of torch rows": lambda x: list(tensor(np.column_stack([x, x]))),
    "pandas frame": lambda x: pd.DataFrame({"a": x, "b": "x"}),
    "pandas series": pd.Series,
    "pandas index": pd.Index,
    "list of frames": lambda x: [pd.DataFrame({"a": [v]}) for v in x],
    "scipy sparse": lambda x: scipy.sparse.csr_matrix(x[:, None]),
    "list of floats": lambda x: x.tolist(),
    "list of numpy scalars": list,
    "list of lists": lambda x: [[0, [v]] for v in x.tolist()],
    "lists of varying length": lambda x: [[v] * (1 + k % 3) for k, v in enumerate(x.tolist())],
    "tuples": lambda x: [(v, None) for v in x.tolist()],
    "named tuples": lambda x: [Pair(v, "s") for v in x.tolist()],
    "named tuple of arrays": lambda x: Pair(x, x),
    "dict of arrays": lambda x: {"a": x, "b": np.zeros_like(x)},
    "list of dicts": lambda x: [{"a": v} for v in x.tolist()],
    "dicts keyed by the value": lambda x: [{v: 1} for v in x.tolist()],
    "sets": lambda x: [{v, 0.0} for v in x.tolist()],
    "Decimal": lambda x: [decimal.Decimal(v) for v in x.tolist()],
    "Fraction": lambda x: [fractions.Fraction(v) for v in x.tolist()],
    "big integers": lambda x: [int(v * 10**30) for v in x.tolist()],
    "datetime": lambda x: [_DAY + datetime.timedelta(seconds=v) for v in x.tolist()],
    "timedelta": lambda x: [datetime.timedelta(seconds=v) for v in x.tolist()],
    "dataclasses": lambda x: [Answer(v, (v, 1.0)) for v in x.tolist()],
    "dataclass of arrays": lambda x: Answer(x, x),
    "formatted text": lambda x: [f"the answer is {v:+.4e}." for v in x.tolist()],
    "JSON": lambda x: [json.dumps({"n": 3, "answer": v}) for v in x.tolist()],
    "eight bytes": lambda x: [struct.pack("<d", v) for v in x.tolist()],
    "text as bytes": lambda x: [str(v).encode() for v in x.tolist()],
    "exceptions as values": lambda x: [ValueError("bad", v) for v in x.tolist()],
}
"""Forty kinds: from numbers, one a run, to outputs."""


def locked(value: float, size: int = 1) -> Array:
    """Zeros that can be written where the value is 0."""
    array = np.zeros(size)
    array.flags.writeable = not value
    return array


def indexed(dtype: Any) -> Any:
    """A sparse matrix whose indices have the given type."""
    parts = (np.ones(1), np.zeros(1, dtype=dtype), np.array([0, 1], dtype=dtype))
    return scipy.sparse.csr_array(parts, shape=(1, 1))


class NoDict:
    """An object that refuses to show its attributes."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("hidden")


class AnyAttribute:
    """An object that has every attribute."""

    def __getattr__(self, name: str) -> float:
        return 1.0


CHANNELS: dict[str, Callable[[float, int], Any]] = {
    "sign of zero": lambda d, n: np.full(n, -0.0 if d else 0.0),
    "NaN bits": lambda d, n: np.full(n, np.uint64(0x7FF8000000000000 + int(d))).view(np.float64),
    "dtype": lambda d, n: np.zeros(n, dtype=np.float32 if d else np.float64),
    "uint64 beside int64": lambda d, n: np.zeros(n, dtype=np.uint64 if d else np.int64),
    "mask": lambda d, n: np.ma.array(np.zeros(n), mask=np.full(n, bool(d))),
    "value under a mask": lambda d, n: np.ma.array(np.full(n, d), mask=True),
    "type of a number": lambda d, n: [1.0 if d else 1] * n,
    "keys": lambda d, n: [{"a": 1} if d else {"b": 1}] * n,
    "keys of a batch": lambda d, n: {"a" if d else "b": np.zeros(n)},
    "order of keys": lambda d, n: [dict.fromkeys("ab" if d else "ba", 1)] * n,
    "length": lambda d, n: [[0] * (3 if d else 2)] * n,
    "integer beyond 2^53": lambda d, n: [2**60 + int(d)] * n,
    "exception type": lambda d, n: [ValueError() if d else TypeError()] * n,
    "enum member": lambda d, n: [Colour.RED if d else Colour.BLUE] * n,
    "Decimal's exponent": lambda d, n: [decimal.Decimal("1.0" if d else "1.00")] * n,
    "digits of a text": lambda d, n: ["1.0" if d else "1.00"] * n,
    "time zone": lambda d, n: [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC if d else None)] * n,
    "identifier": lambda d, n: [uuid.UUID(int=int(d))] * n,
    "attribute of a float": lambda d, n: [carrying(FloatWith(1.0), secret=d)] * n,
    "slot of a float": lambda d, n: [carrying(Slotted(1.0), secret=d)] * n,
    "attribute of a list": lambda d, n: [carrying(ListWith([1.0]), secret=d)] * n,
    "attribute of an array": lambda d, n: [carrying(np.zeros(1).view(ArrayWith), secret=d)] * n,
    "attribute of a batch": lambda d, n: carrying(np.zeros(n).view(ArrayWith), secret=d),
    "attribute of a part of a batch": lambda d, n: {"a": carrying(np.zeros(n).view(ArrayWith), secret=d)},
    "attribute beside a dataclass": lambda d, n: [carrying(Extended(1.0), secret=d)] * n,
    "metadata of a dtype": lambda d, n: [np.zeros(1, dtype=np.dtype("f8", metadata={"raw": d}))] * n,
    "fill of a mask": lambda d, n: [np.ma.array([0.0], mask=True, fill_value=d)] * n,
    "gradient of a tensor": lambda d, n: [graded(d)] * n,
    "attrs of a frame": lambda d, n: [carrying(pd.DataFrame({"a": [0.0]}), attrs={"raw": d})] * n,
    "attrs of a batch": lambda d, n: carrying(pd.DataFrame({"a": np.zeros(n)}), attrs={"raw": d}),
    "name of an index": lambda d, n: pd.Series(np.zeros(n), index=pd.RangeIndex(n, name=f"n{d}")),
    "category that is not used": lambda d, n: [pd.Series(pd.Categorical(["x"], categories=["x", f"{d}"]))] * n,
    "nanoseconds": lambda d, n: [pd.Timestamp(int(d))] * n,
    "stored zero": lambda d, n: [stored_zero(bool(d))] * n,
    "cause of an exception": lambda d, n: [caused(d)] * n,
    "note of an exception": lambda d, n: [carrying(ValueError(), __notes__=[str(d)])] * n,
    "maps that others hide": lambda d, n: [collections.ChainMap({"a": 1.0}, {"a": d})] * n,
    "lock of an array": lambda d, n: [locked(d)] * n,
    "lock of a batch": locked,
    "type of a sparse index": lambda d, n: [indexed(np.int64 if d else np.int32)] * n,
    "flag of a frame": lambda d, n: [pd.DataFrame({"a": [0.0]}).set_flags(allows_duplicate_labels=bool(d))] * n,
    "payload of a decimal": lambda d, n: [decimal.Decimal(f"NaN{int(d)}")] * n,
    "text of a user's class": lambda d, n: [collections.UserString(f"a{d}")] * n,
    "order of axes in memory": lambda d, n: [np.zeros((2, 2), order="F" if d else "C")] * n,
    "order of axes beside a number": lambda d, n: [[1.0, np.zeros((2, 2), order="F" if d else "C")]] * n,
    "order of axes of a tensor": lambda d, n: [tensor(np.zeros((2, 2))).T if d else tensor(np.zeros((2, 2)))] * n,
    "a mask of no entries": lambda d, n: [np.ma.array([0.0], mask=[False] if d else np.ma.nomask)] * n,
    "frequency of an index": lambda d, n: (
        [pd.date_range("2020-01-01", periods=1) if d else pd.DatetimeIndex(["2020-01-01"])] * n
    ),
    "type of an array": lambda d, n: [array.array("d" if d else "f", [1.0])] * n,
    "script of a digit": lambda d, n: ["\u0661" if d else "1"] * n,
    "a context that is not shown": lambda d, n: [carrying(ValueError(), __suppress_context__=bool(d))] * n,
    "room of a queue": lambda d, n: [collections.deque([1.0], maxlen=5 + int(d))] * n,
}
"""Outputs that tell the data set beside an equal value."""


def run(
    function: Callable[..., Any],
    runs: int = 200,
    seed: int = 0,
    *,
    score: Score | None = None,
    significance: float = 0.01,
    **how: Any,
) -> AuditResult:
    case, rng = function_case(function, (0.0, 1.0), ONE, score=score), np.random.default_rng(seed)
    settings = Settings(**{"control_runs": 0} | how)
    return audit(case, claim=ONE, runs=runs, rng=rng, significance=significance, how=settings)


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_that_hold_the_raw_value_are_accused(kind: str) -> None:
    """Noise of a tenth of the scale (epsilon 10) around the raw value: a violation for each of forty kinds."""
    assert run(lambda d, rng, n: KINDS[kind](d + rng.laplace(0, 0.1, n))).verdict == "violation"


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_without_noise_never_pass(kind: str) -> None:
    """The raw value itself: a violation; and no pass where both data sets give the same constant."""
    assert run(lambda d, rng, n: KINDS[kind](np.full(n, d))).verdict == "violation"
    constant = run(lambda d, rng, n: KINDS[kind](np.full(n, 0.5)))
    assert constant.verdict == "inconclusive"
    assert constant.epsilon_lower == 0


def test_honest_outputs_of_every_kind_are_not_accused() -> None:
    """Laplace noise of the claimed epsilon, forty kinds, one audit each at significance 1e-10: no violation at all."""
    verdicts = {
        kind: run(lambda d, rng, n, to=to: to(d + rng.laplace(0, 1.0, n)), significance=1e-10).verdict
        for kind, to in KINDS.items()
    }
    assert {kind for kind, verdict in verdicts.items() if verdict == "violation"} == set()


@pytest.mark.parametrize("channel", CHANNELS)
def test_what_stands_beside_the_value_is_read(channel: str) -> None:
    """Each channel tells the data set in every run; the twin that always shows one side is no violation."""
    assert run(lambda d, rng, n: CHANNELS[channel](d, n)).verdict == "violation"
    assert run(lambda d, rng, n: CHANNELS[channel](1.0, n)).verdict == "inconclusive"


@pytest.mark.parametrize(
    "output",
    [
        lambda x: [Opaque(v) for v in x],
        lambda x: [partial(float, v) for v in x],
        lambda x: [object() for _ in x],
        lambda x: [iter([v]) for v in x],
        lambda x: [NoDict() for _ in x],
        lambda x: [AnyAttribute() for _ in x],
        lambda x: [collections.defaultdict(partial(float, v)) for v in x],
    ],
)
def test_outputs_of_unknown_types_are_refused_by_name(output: Callable[..., Any]) -> None:
    """Nothing is told apart by its address: the error names the type and what to return."""
    with pytest.raises(UnsupportedError, match=r"Cannot read an output of type .*Return its contents"):
        run(lambda d, rng, n: output(d + rng.laplace(0, 1.0, n)))
    cycle: list[object] = []
    cycle.append(cycle)
    with pytest.raises(UnsupportedError, match="nested at most 32"):
        record(cycle)


def test_a_digit_after_all_digits_of_a_text_is_read() -> None:
    """The noisy number is honest, the digit after it is the raw one; a digit that follows the noise tells nothing."""

    def written(data: float, rng: np.random.Generator, n_runs: int) -> list[str]:
        return [f"{value!r}{int(data)}" for value in (data + rng.laplace(size=n_runs)).tolist()]

    def honest(data: float, rng: np.random.Generator, n_runs: int) -> list[str]:
        return [f"{value!r}{int(value > 0.5)}" for value in (data + rng.laplace(size=n_runs)).tolist()]

    assert run(written, runs=1_000).verdict == "violation"
    assert run(honest, runs=1_000, significance=1e-9).verdict != "violation"


def test_numbers_after_the_first_ones_of_an_array_are_one_category() -> None:
    """An array of a data class: the first 256 numbers by name, and of the rest one digest that the last one moves.

    Zeros of both signs differ.
    """
    whole = np.arange(100_000.0)
    columns = record(Answer(value=whole))
    assert len(columns) < 1_000
    for last in (7.0, np.nan):
        changed = np.append(whole[:-1], last)
        moved = {name for name, held in record(Answer(value=changed)).items() if columns[name] != held}
        assert len(moved) == 1
    signs = [record(Answer(value=np.append(whole, zero))) for zero in (0.0, -0.0)]
    assert signs[0] != signs[1]


def test_encrypted_texts_are_unreadable_and_never_pass() -> None:
    """Text whose every run is new: inconclusive, and the remark names the column."""
    result = run(
        lambda d, rng, n: [base64.b64encode(rng.bytes(8) + struct.pack("d", d)).decode() for _ in range(n)],
        runs=2000,
        control_runs=None,
    )
    assert result.verdict in ("inconclusive", "violation")
    assert any("cannot be read" in remark for remark in result.remarks)


def test_a_row_depends_on_its_own_output_alone() -> None:
    """Each output read alone, in a list with the others, or in another order gives the same numbers."""
    outputs = [
        1.0,
        2**70,
        None,
        "a 1",
        np.array([1.0, 2.0]),
        np.array([1.0]),
        {"a": 1},
        (1, 2),
        True,
        -0.0,
        Answer(1.0),
    ]
    together = columns_of(outputs, len(outputs))
    for place, output in enumerate(outputs):
        single = columns_of([output], 1)
        for name, column in single.items():
            np.testing.assert_array_equal(together[name][place, : column.shape[1]], column[0])


def raising(where: Callable[..., Any], exception: ValueError | SystemExit | MemoryError) -> Callable[..., Any]:
    def function(data: Any, rng: np.random.Generator, n_runs: int) -> Any:
        if where(data, rng):
            raise exception
        return data + rng.laplace(0, 1.0, n_runs)

    return function


@pytest.mark.parametrize("exception", [ValueError("x"), SystemExit(0), MemoryError()])
def test_an_exception_of_one_data_set_is_a_violation(exception: ValueError | SystemExit | MemoryError) -> None:
    """The refusal depends on the data; with a given score the outcomes are attacked instead."""
    assert run(raising(lambda data, rng: data == 1.0, exception)).verdict == "violation"
    scored = run(raising(lambda data, rng: data == 1.0, exception), score=np.abs)
    assert scored.verdict == "violation"
    assert type(exception).__name__ in scored.remarks[0]


def test_exceptions_everywhere_are_inconclusive_and_named() -> None:
    """Nothing was released; the verdict names the exception."""
    result = run(raising(lambda data, rng: True, SystemExit(0)))
    assert result.verdict == "inconclusive"
    assert "raised an exception (SystemExit: 0)" in result.remarks[0]


def test_a_rare_exception_with_equal_chance_accuses_nobody() -> None:
    """One run in ten raises on both sides: 10 audits, no violation at significance 1e-9."""
    verdicts = {
        run(raising(lambda data, rng: rng.random() < 0.1, ValueError()), seed=seed, significance=1e-9).verdict
        for seed in range(10)
    }
    assert "violation" not in verdicts


def test_a_run_that_takes_too_long_is_an_outcome() -> None:
    """One data set loops for ever: the limit ends each run, and the outcome tells the data set."""

    def slow(data: Any, rng: np.random.Generator) -> Any:
        while data == 1.0:
            pass
        return data + rng.laplace()

    assert run(slow, runs=60, run_seconds=0.02).verdict == "violation"


def test_seeds_and_old_generators_are_refused_with_the_remedy() -> None:
    """rng=0 and RandomState get a line that says what to write."""
    old: tuple[tuple[Any, str], ...] = ((0, r"default_rng\(0\)"), (np.random.RandomState(1), r"default_rng\(seed\)"))
    for wrong, remedy in old:
        with pytest.raises(ValueError, match=remedy):
            audit(
                lambda d, rng, n: KINDS["list of floats"](np.full(n, d)),
                neighbours=(0.0, 1.0),
                claim=ONE,
                runs=100,
                rng=wrong,
            )


def with_bound(data: Any, rng: Any, bound: float = 1.0) -> Any:
    return data, rng.integers(2) < 2, bound


def by_name(data: Any, epsilon: float = 1.0, rng: Any = None) -> Any:
    return data, rng.integers(2) < 2, epsilon


def by_keyword(data: Any, *, rng: Any, bound: float = 1.0) -> Any:
    return data, rng.integers(2) < 2, bound


@pytest.mark.parametrize("function", [with_bound, by_name, by_keyword])
def test_settings_with_a_default_keep_it(function: Callable[..., Any]) -> None:
    """Neither the number of runs nor the generator stands in the place of a bound or an epsilon."""
    called, alone = as_run(function)
    assert alone
    assert called(7, np.random.default_rng(0), 2) == [(7, True, 1.0)] * 2


def test_a_last_parameter_that_is_called_n_runs_is_the_number_of_runs() -> None:
    """The twin of the test above."""
    called, alone = as_run(lambda data, rng, n_runs=1: [data] * n_runs)
    assert not alone
    assert called(7, np.random.default_rng(0), 2) == [7, 7]


def test_honest_numbers_in_a_text_are_written_in_one_style() -> None:
    """A zero before the point, or minus zero, is no category of its own; needless zeros are."""
    kinds = [dict(text_entries(text, "")) for text in ("0.5 a", "1.5 a", "-0.0 a", "00.5 a", ".5 a")]
    usual, other, negative, padded, bare = (entries["kind  text"] for entries in kinds)
    assert usual == other == negative
    assert len({usual, padded, bare}) == 3
    assert kinds[2]["mark #0 negative zero"] == 1.0
    assert "mark #0 negative zero" not in kinds[0]


def test_functions_of_one_run_are_called_once_a_run() -> None:
    """f(data, rng) and f(data): as many calls as runs, and half the noise falls."""
    assert run(lambda data, rng: data + rng.laplace(0, 0.5), runs=2000).verdict == "violation"
    own = np.random.default_rng(3)
    assert run(lambda data: data + own.laplace(0, 0.5), runs=2000).verdict == "violation"
    with pytest.raises(ValueError, match=r"function of \(data, rng, n_runs\)"):
        run(lambda: 0)
