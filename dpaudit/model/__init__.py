"""The data model: claims, mechanisms, losses, declarations, conditions, transcripts, certificates and results."""

CARRIES_RELEASES = True
"""The line that asked for a release is that of the caller, as `dpaudit.model.tape` reads it."""
