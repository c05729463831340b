"""Other tools' formats, one file each: what they can express is translated, what they cannot is refused by name."""
