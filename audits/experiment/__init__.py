"""The experiment: labelled runs on two neighbours, in chunks, in any number of processes."""
