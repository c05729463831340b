"""Defects that were found in real software, each beside its fixed version, and what dpaudit says of both.

Some are rebuilt from the released packages that had them, in environments of their own; the others are minimal
analogues of the defect in our own code. Nothing here imports a mechanism or an algorithm: they are found by name at run
time, as the command line does.
"""
