"""An independent checker of certificates: JSON in, inconsistencies out.

It imports nothing of what produced the certificate (the standard library, numpy and scipy only), reads the tree from
its JSON, folds it with its own code, and computes the privacy curve by other means than the engines: closed forms, and
a lattice of losses weighted exponentially and summed by its Fourier transform. Its numbers are proved on both sides:
a stated bound that contradicts them is a complaint, and so is one far from them. Verdict, reasons and conditions are
derived again and compared word for word. Where it cannot derive something again it rejects; what it cannot derive in
principle (what a run saw, what a `stated` part claims) it names.
"""

from dpaudit.verifier.checking import Verification, verify

__all__ = ["Verification", "verify"]
