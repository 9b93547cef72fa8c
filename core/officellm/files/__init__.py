"""Team files and task files: read, placed, checked, and made into offices and orders."""
