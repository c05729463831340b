"""The data model: claims, neighbours, mechanisms, losses, declarations, conditions, transcripts, certificates, results."""
