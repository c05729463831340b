"""Each result as a neutral document, which `dpaudit.documents` writes."""
