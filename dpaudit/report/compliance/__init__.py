"""The numbered sections of the compliance report: fields and tables, each with the status of its value."""
