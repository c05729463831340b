"""What is known of a pair whose finite losses have an order that nobody stated."""

from dpaudit.model.losses import Composition, DiscreteLoss, smaller_order


def in_either_order(composition: Composition) -> Composition:
    """Return what the pair attains whichever law of a finite loss the record has, in each loss by itself.

    Each order is attained by some pair, and the loss that both orders dominate is dominated by that pair, also where it
    is sampled, met at a secret step or composed.

    >>> from dpaudit.model.losses import LaplaceLoss
    >>> in_either_order(Composition.of(LaplaceLoss(shift=1.0))).events
    1
    """
    if all(loss.symmetric for loss, _ in composition.parts if isinstance(loss, DiscreteLoss)):
        return composition
    parts = [
        (smaller_order(loss) if isinstance(loss, DiscreteLoss) and not loss.symmetric else loss, n)
        for loss, n in composition.parts
    ]
    return Composition.total(Composition.of(loss) * n for loss, n in parts)
