"""Parallel parts below a sample in which another record takes the place of the one that is looked at."""

from dpaudit.accounting.adaptive_choice import join
from dpaudit.accounting.normal_form import Alternatives
from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Parallel, Subsample, walk


def exchanged(alternatives: Alternatives, node: Subsample) -> Alternatives:
    """Return the alternatives of a part where the record that takes a place may touch another part than the one before.

    Without parallel parts, and in a Poisson sample, they stay as they are. A Poisson sample that is cut is stated for a
    record against none: one part loses a record and another one gains one, so that all are joined, and two moves of the
    joined loss bound both. In a sample of fixed size the parts are stated for a record that is replaced in one part,
    which says nothing about one that leaves a part.
    Raises: UnsupportedError: parallel parts below a sample of fixed size.

    >>> from dpaudit.model.declaration import Stated
    >>> node = Subsample(part=Stated(epsilon=0.5, source="a supplier"), rate=0.5, scheme="without_replacement")
    >>> exchanged((), node)
    ()
    """
    if node.scheme == "poisson" or not any(isinstance(below, Parallel) for _, below in walk(node.part)):
        return alternatives
    if node.scheme == "truncated_poisson":
        return (join(alternatives),)
    raise UnsupportedError(
        f"'subsample' with scheme={node.scheme!r} over 'parallel' parts is not covered: the record that takes another "
        "one's place may touch another part. Put the sample inside each part."
    )
