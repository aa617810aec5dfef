"""`python -m cli` is `gigavqa`."""

from cli.app import main

if __name__ == "__main__":
    main()
