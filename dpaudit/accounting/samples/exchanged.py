"""Parallel parts below a sample in which another record takes the place of the one that is looked at."""

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.model.declaration import Parallel, Subsample, walk


def exchanged(alternatives: Alternatives, node: Subsample) -> Alternatives:
    """Return the alternatives of a part where the record that takes a place may touch another part than the one before.

    Without parallel parts, and in a Poisson sample, they stay as they are. A Poisson sample that is cut is stated for a
    record against none: one part loses a record and another one gains one, so that all are joined, and two moves of the
    joined loss bound both. A sample of fixed size has no parallel parts below it.

    >>> from dpaudit.model.declaration import Stated
    >>> node = Subsample(part=Stated(epsilon=0.5, source="a supplier"), rate=0.5, scheme="without_replacement")
    >>> exchanged((), node)
    ()
    """
    parallel = any(isinstance(below, Parallel) for _, below in walk(node.part))
    return (join(alternatives),) if parallel and node.scheme == "truncated_poisson" else alternatives
