"""The built-in drivers. They use only the public names of `officellm`, and are found by entry points like anyone's."""
