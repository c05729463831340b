"""Helpers that give a value of a test its type, and fail the test where the value has another one."""

from typing import Protocol, TypeVar, runtime_checkable

from mechanisms import JointGaussian

T = TypeVar("T")


def present(value: T | None) -> T:
    """Return `value`, which is there."""
    assert value is not None
    return value


def as_a(kind: type[T], value: object) -> T:
    """Return `value`, which is an instance of `kind`."""
    assert isinstance(value, kind), f"Expected {kind.__name__}, got {type(value).__name__}"
    return value


@runtime_checkable
class _WithStddev(Protocol):
    stddev: float
    l2_sensitivity: float


@runtime_checkable
class _WithScale(Protocol):
    scale: float


def stddev_of(mechanism: object) -> float:
    """Return the standard deviation of a Gaussian mechanism of any shape."""
    assert isinstance(mechanism, _WithStddev)
    return mechanism.stddev


def l2_sensitivity_of(mechanism: object) -> float:
    """Return the l2 sensitivity of a Gaussian mechanism of any shape."""
    assert isinstance(mechanism, _WithStddev)
    return mechanism.l2_sensitivity


def matrix_stddev_of(mechanism: object) -> float:
    """Return the standard deviation of the matrix in a joint release."""
    return as_a(JointGaussian, mechanism).matrix_stddev


def scale_of(mechanism: object) -> float:
    """Return the scale of a Laplace mechanism of any shape."""
    assert isinstance(mechanism, _WithScale)
    return mechanism.scale
