"""``python -m tmigrate`` is the command ``tmigrate``."""

from tmigrate.cli import main

if __name__ == "__main__":
    main()
