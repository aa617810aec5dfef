"""`python -m gigavqa` is `gigavqa`."""

from gigavqa.cli.app import main

if __name__ == "__main__":
    main()
