"""What a provider block of this package may say, and the names of the environment variables. No secret is read here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from officellm import ProviderSettings

#: Amazon's own name of the variable that holds a Bedrock API key.
API_KEY = "AWS_BEARER_TOKEN_BEDROCK"
ACCESS_KEY = "AWS_ACCESS_KEY_ID"
SECRET_KEY = "AWS_SECRET_ACCESS_KEY"
SESSION_TOKEN = "AWS_SESSION_TOKEN"
REGIONS = ("AWS_REGION", "AWS_DEFAULT_REGION")

#: What a region looks like: it becomes part of a host's name.
REGION = r"[a-z]{2}[a-z0-9-]{2,40}"


class BedrockSettings(ProviderSettings):
    """A provider block. `region` comes from the environment where it is not given; `base_url` is made from it.

    `cache` marks instructions, tools and history for the prompt cache of models that have one.
    """

    region: Annotated[str, Field(pattern=f"^{REGION}$")] | None = None
    cache: bool = False
    api_key_env: str | None = API_KEY
