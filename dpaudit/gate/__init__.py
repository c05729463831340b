"""The gate of a pipeline: issues of certificates and audits, in the formats that pipelines read, against a baseline."""
