"""An independent checker of certificates: JSON in, complaints out.

It imports nothing of what produced the certificate (the standard library, numpy and scipy only), reads the tree
from its JSON, folds it with its own code, and computes the privacy loss by other means than the engines: closed
forms, and a grid of losses weighted exponentially and composed by its Fourier transform. Its numbers are
witnesses, not proofs: a stated bound on the wrong side of a witness by more than the witness's own error is a
complaint, and so is one far from it. Where it cannot derive something again it rejects; it never takes a number
on trust.
"""

from dpaudit.verifier.checking import Verification, verify

__all__ = ["Verification", "verify"]
