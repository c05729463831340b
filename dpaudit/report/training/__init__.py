"""The report of a training run, for a model card: claim, certificate, watch, audits, and what is not covered."""
