from __future__ import annotations

import pytest
from pydantic import ValidationError

from officellm import ProviderSettings


class AtHome(ProviderSettings):
    base_url: str = "https://api.example.com"


@pytest.mark.parametrize("settings", [ProviderSettings, AtHome], ids=["plain", "with-a-default"])
@pytest.mark.parametrize(
    "url", ["http://[x", "api.example.com", "http://a b/", "http://h:99999/", "ftp://h/", "http://"]
)
def test_an_address_that_is_none_is_refused(settings, url):
    with pytest.raises(ValidationError, match="is no http:// or https:// address"):
        settings(base_url=url)


@pytest.mark.parametrize("url", ["", "http://localhost:1/v1", "https://[::1]:8080/", "https://u:p@h/v1?x=1"])
def test_an_address_stays_as_it_was_written(url):
    assert ProviderSettings(base_url=url).base_url == url


def test_the_words_hold_no_password_and_no_query():
    with pytest.raises(ValidationError) as raised:
        ProviderSettings(base_url="http://user:secret@[x/?key=secret")
    assert "secret" not in raised.value.errors()[0]["msg"]
