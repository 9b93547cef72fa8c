"""Well-known providers: format, base URL, key variable. So `openai:gpt-4.1-mini` works without a block."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preset:
    """A provider that needs no block in a team file."""

    format: str
    base_url: str
    api_key_env: str | None


PRESETS: dict[str, Preset] = {
    "openai": Preset("openai_compat", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "anthropic": Preset("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "gemini": Preset("gemini", "https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY"),
    "grok": Preset("openai_compat", "https://api.x.ai/v1", "GROK_API_KEY"),
    "groq": Preset("openai_compat", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "openrouter": Preset("openai_compat", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "together": Preset("openai_compat", "https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "perplexity": Preset("openai_compat", "https://api.perplexity.ai", "PPLX_API_KEY"),
    "deepseek": Preset("openai_compat", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "mistral": Preset("openai_compat", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "lm-studio": Preset("openai_compat", "http://localhost:1234/v1", "LM_STUDIO_API_KEY"),
    "ollama": Preset("openai_compat", "http://localhost:11434/v1", "OLLAMA_API_KEY"),
    "vllm": Preset("openai_compat", "http://localhost:8000/v1", "VLLM_API_KEY"),
    "llama-cpp": Preset("openai_compat", "http://localhost:8080/v1", "LLAMA_CPP_API_KEY"),
    # The model inside this process: the driver comes with the package officellm-provider-local.
    "local": Preset("local", "", None),
}


def preset_url(name: str) -> str:
    """A preset's base URL, or what its variable (`OPENAI_BASE_URL`, `LM_STUDIO_BASE_URL`, ...) says instead."""
    variable = f"{name.upper().replace('-', '_')}_BASE_URL"
    return os.environ.get(variable) or PRESETS[name].base_url
