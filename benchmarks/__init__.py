"""Evidence of the project: subjects whose privacy is known, other libraries, measurements; not installed."""
