"""Known bugs of real software, each beside its fixed version, and the findings of dpaudit on both.

Some are reproduced with the released packages that had them, in environments of their own; the others are minimal
analogues. Mechanisms and algorithms are found by name at run time.
"""
