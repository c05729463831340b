"""The command line as `python -m dpaudit`."""

from dpaudit.cli import main

if __name__ == "__main__":
    main()
