"""The audit of one training run: conformance, one step, and the whole run with canaries."""
