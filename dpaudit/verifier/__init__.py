"""An independent checker of certificates: JSON in, complaints out.

It imports nothing of what produced the certificate (the standard library, numpy and scipy only), reads the tree
from its JSON, folds it with its own code, and computes the privacy loss by other means than the engines: the
inverse Laplace transform of the moment generating function along a vertical line (Alghamdi et al., 2023), and
where that converges too slowly a grid of losses convolved directly. Its numbers are witnesses, not proofs: a
stated bound on the wrong side of a witness by more than the witness's own error is a complaint. Where it cannot
derive something again it rejects; it never takes a number on trust.
"""

from dpaudit.verifier.checking import Verification, verify

__all__ = ["Verification", "verify"]
