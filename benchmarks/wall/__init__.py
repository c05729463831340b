"""The wall: a list of releases of other libraries, audited under one error rate, on one page."""
