"""Lower bounds on epsilon, one idea a file: what each counts, what it assumes, where it is exact."""
