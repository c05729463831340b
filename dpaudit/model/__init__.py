"""The data model: claims, mechanisms, losses, declarations, conditions, transcripts, certificates and results."""
