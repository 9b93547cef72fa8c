"""What all tests share: no network but loopback, a cache of their own, and fake packages that are really found."""

from __future__ import annotations

import atexit
import importlib
import ipaddress
import os
import shutil
import socket
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

# stevedore keeps its cache on disk, and reads this when it is imported.
_CACHE = tempfile.mkdtemp(prefix="officellm-tests-")
os.environ["XDG_CACHE_HOME"] = _CACHE
atexit.register(shutil.rmtree, _CACHE, ignore_errors=True)

_NAMES = (None, "", b"", "localhost")


def _is_local(host: Any) -> bool:
    if host in _NAMES:
        return True
    try:
        address = ipaddress.ip_address(host.decode() if isinstance(host, bytes) else host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest --live tests/live` asks real services, with the keys in the environment; it costs a little."""
    parser.addoption("--live", action="store_true", help="ask the real services whose keys are in the environment")


@pytest.fixture(scope="session", autouse=True)
def no_network(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that reaches for another machine, but for those that ask real services."""
    if request.config.getoption("--live"):
        yield
        return

    def guarded(original: Callable[..., Any]) -> Callable[..., Any]:
        def connect(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_local(address[0]):
                pytest.fail(f"a test reached for the network: {address!r}")
            return original(self, address)

        return connect

    resolve = socket.getaddrinfo

    def getaddrinfo(host: Any, *arguments: Any, **options: Any) -> Any:
        if not _is_local(host):
            pytest.fail(f"a test reached for the network: {host!r}")
        return resolve(host, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded(socket.socket.connect))
        patch.setattr(socket.socket, "connect_ex", guarded(socket.socket.connect_ex))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        yield


class Installer:
    """Writes distributions as pip leaves them, each in a folder of its own, first on the path."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._count = 0

    def __call__(
        self,
        package: str,
        points: Mapping[str, Mapping[str, str]],
        modules: Mapping[str, str],
        *,
        version: str = "1.0",
    ) -> Path:
        """`points` maps a group to names and modules, `modules` a module's name to its source. Returns the folder."""
        self._count += 1
        folder = self._root / f"{self._count}-{package}"
        folder.mkdir()
        for name, source in modules.items():
            (folder / f"{name}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        self.write_metadata(folder, package, points, version=version)
        sys.path.insert(0, str(folder))
        forget_entry_points()
        return folder

    def write_metadata(
        self, folder: Path, package: str, points: Mapping[str, Mapping[str, str]], *, version: str = "1.0"
    ) -> None:
        """Write or replace the metadata alone, as a reinstallation would."""
        info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
        sections = [
            f"[{group}]\n" + "".join(f"{name} = {module}\n" for name, module in named.items())
            for group, named in points.items()
        ]
        (info / "entry_points.txt").write_text("\n".join(sections))


def forget_entry_points() -> None:
    """Drop what stevedore and importlib remember within this process."""
    from stevedore import ExtensionManager, _cache

    ExtensionManager.ENTRY_POINT_CACHE.clear()
    _cache._c._internal.clear()
    importlib.invalidate_caches()


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Installer]:
    """Installs fake packages for one test: `install(package, {group: {name: module}}, {module: source})`."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield Installer(tmp_path)
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
    monkeypatch.undo()
    forget_entry_points()
