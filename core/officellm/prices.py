"""What a request cost, from the genai-prices library. An unknown price is None, never zero."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache

from officellm.messages import Usage


def cost(model: str, usage: Usage) -> float | None:
    """US dollars for one request's usage of a model, None where the price is unknown."""
    pricing = _pricing(model)
    return None if pricing is None else pricing(usage)


@lru_cache(maxsize=512)
def _pricing(model: str) -> Callable[[Usage], float] | None:
    # Imported on the first priced request only: its table takes longer to load than most of officellm.
    from genai_prices import Usage as Tokens, calc_price

    try:
        sample = calc_price(Tokens(input_tokens=1, output_tokens=1), model_ref=model)
    except LookupError:
        return None
    price = sample.model_price

    def exact(usage: Usage) -> float:
        tokens = Tokens(input_tokens=usage.input, output_tokens=usage.output, cache_read_tokens=usage.cached or None)
        return float(calc_price(tokens, model_ref=model).total_price)

    rates = [price.input_mtok, price.output_mtok, price.cache_read_mtok]
    if not all(rate is None or isinstance(rate, Decimal) for rate in rates):
        return exact  # the price depends on the request's size
    # Most prices are flat, and the library's own calculation costs 55 µs a request.
    fresh, output, read = (float(rate) / 1e6 if isinstance(rate, Decimal) else None for rate in rates)
    if fresh is None or output is None:
        return exact
    cached = fresh if read is None else read
    return lambda usage: (usage.input - usage.cached) * fresh + usage.cached * cached + usage.output * output


def context_window(model: str) -> int | None:
    """The tokens that a model takes at most, None where that is not known."""
    from genai_prices import Usage as Tokens, calc_price

    try:
        return calc_price(Tokens(input_tokens=1), model_ref=model).model.context_window
    except LookupError:
        return None
