"""Plug-in mechanisms that draw samples of their own, of which a group of records cannot be read."""

from dpaudit.errors import UnsupportedError
from dpaudit.model.declaration import Declaration, Release, walk
from dpaudit.model.losses import Composition, SampledGaussianLoss
from dpaudit.model.mechanism import rests_on_plug_ins


def require_declared_samples(part: Declaration) -> None:
    """Refuse a group over a plug-in's own sampled Gaussian loss.

    Several records of a person cost what a binomial number of them does only if each is drawn by itself. A `subsample`
    node states so, as a condition; the loss of a mechanism does not.
    Raises: UnsupportedError: such a release below `part`.
    """
    for _, node in walk(part):
        if isinstance(node, Release) and rests_on_plug_ins(node.mechanism):
            held = Composition.of(node.mechanism.loss())
            if any(isinstance(loss, SampledGaussianLoss) for loss, _ in held.parts):
                raise UnsupportedError(
                    f"'group' over '{node.label}', a plug-in mechanism with a sampled loss of its own, is not covered: "
                    "nothing says that a person's records are drawn independently. Let the mechanism state its loss "
                    "without the sample, and put it inside a 'subsample' node."
                )
