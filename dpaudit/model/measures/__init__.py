"""Claims in other measures than epsilon and delta, and the proved ends in each of them."""
