"""`python -m officellm` is the command line."""

from officellm.cli import main

if __name__ == "__main__":
    main()
