"""Gating a pipeline: what was checked as a list of issues, in the formats that pipelines read, against a baseline."""
