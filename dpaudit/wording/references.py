"""Where the tight reading of each kind of node comes from, so that a derivation can be cited."""

from typing import assert_never

from dpaudit.model.declaration import (
    Billboard,
    Cells,
    Declaration,
    Group,
    Local,
    Parallel,
    PostProcess,
    Release,
    Repeat,
    Sequential,
    Stated,
    Subsample,
)
from dpaudit.model.losses import (
    ApproximateLoss,
    ChoiceLoss,
    ComposedLoss,
    DiscreteLoss,
    GaussianLoss,
    LaplaceLoss,
    Loss,
    SampledGaussianLoss,
)


def node_source(node: Declaration) -> str:
    """Return the reference for what the tight reading does at a node."""
    match node:
        case Release(mechanism=mechanism):
            return loss_source(mechanism.loss())
        case Sequential() | Repeat():
            return "Dong, Roth and Su (2022), Theorem 3.2: losses of adaptive releases add up"
        case Parallel():
            return "McSherry (2009), Theorem 4; for keys from the public view, joint convexity of the hockey-stick"
        case Cells():
            return "triangle inequality: replacing a record empties one cell and fills another"
        case Group():
            return "Dwork and Roth (2014), Theorem 2.2; for shifted noise, the shift of all records together"
        case Subsample():
            return "Balle, Barthe and Gaboardi (2018), Theorems 8 and 9; Zhu, Dong and Wang (2022), Theorem 11"
        case PostProcess():
            return "Dwork and Roth (2014), Proposition 2.1"
        case Billboard():
            return "Hsu, Huang, Roth, Roughgarden and Wu (2014), the billboard lemma"
        case Local():
            return "Kasiviswanathan, Lee, Nissim, Raskhodnikova and Smith (2011)"
        case Stated():
            return "no proof here: an upper bound taken on trust"
        case _:
            assert_never(node)


def loss_source(loss: Loss) -> str:
    """Return the reference for the privacy loss of one release."""
    match loss:
        case GaussianLoss():
            return "Balle and Wang (2018), Theorem 8"
        case LaplaceLoss():
            return "Dwork and Roth (2014), Theorem 3.6, with the exact curve of two shifted Laplace laws"
        case ApproximateLoss():
            return "Kairouz, Oh and Viswanath (2015), Theorem 3.3"
        case SampledGaussianLoss():
            return "Zhu, Dong and Wang (2022), Theorem 11"
        case DiscreteLoss():
            return "the probabilities of its outcomes, outcome by outcome"
        case ChoiceLoss():
            return "Zhu, Dong and Wang (2022), Proposition 8"
        case ComposedLoss(parts=parts):
            count = sum(times for _, times in parts)
            return f"a record meets {count} of its parts; each: {loss_source(parts[0][0])}"
        case _:
            assert_never(loss)
