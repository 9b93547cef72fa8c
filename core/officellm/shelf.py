"""Finds a driver by name and imports only that one. Only this module imports stevedore."""

from __future__ import annotations

import importlib
from types import ModuleType

from officellm import provenance
from officellm.errors import PluginBrokenError, PluginConflictError, PluginNotFoundError, nearest
from officellm.kinds import Kind


def names(group: str) -> list[str]:
    """Every name offered in a group, sorted, from cached metadata; nothing is imported."""
    return sorted({name for name, _ in _cached(group)})


def _cached(group: str) -> list[tuple[str, str]]:
    """Name and module of every entry point, from stevedore's cache."""
    from stevedore import NamedExtensionManager

    manager: NamedExtensionManager[object] = NamedExtensionManager(group, names=[])
    return [(point.name, point.value) for point in manager.list_entry_points()]


def load(kind: Kind, name: str) -> ModuleType:
    """The driver's module. Raises `PluginNotFoundError`, `PluginConflictError`, `PluginBrokenError`.

    `name` may be `name@package` to choose among packages that offer the same name.
    """
    return load_from(kind.group, name, kind.value)


def load_from(group: str, name: str, word: str) -> ModuleType:
    """Like `load`, for any group; `word` is what messages call it."""
    bare, _, package = name.partition("@")
    offered = [module for offered_name, module in _cached(group) if offered_name == bare]
    # stevedore resolves a duplicate silently (the last wins), and its disk cache is 128 s coarse: so a duplicate and a
    # miss are both read again from fresh metadata, which also says who ships what.
    if package or len(offered) != 1:
        return _load_fresh(group, bare, package, word)
    return _import(offered[0], bare, word, group)


def _load_fresh(group: str, name: str, package: str, word: str) -> ModuleType:
    candidates = provenance.offers_of(group, name)
    if package:
        wanted = provenance.normalized(package)
        candidates = [offer for offer in candidates if offer.package == wanted]
    if not candidates:
        known = names(group)
        shown = f"{name}@{package}" if package else name
        close = nearest(name, known)
        # Not for a slip of the pen: nobody vouches for a package of that name.
        suggest = word != "extension" and "Did you mean" not in close
        hint = f" A package may offer it: pip install officellm-{word}-{name}" if suggest else ""
        raise PluginNotFoundError(f"no {word} named {shown!r}.{close}{hint}")
    if len(candidates) > 1:
        who = " and ".join(f"{offer.package} {offer.version}" for offer in candidates)
        choose = " or ".join(repr(offer.qualified) for offer in candidates)
        raise PluginConflictError(f"the {word} {name!r} is offered by {who}: say {choose}")
    return _import(candidates[0].module, name, word, group)


def _import(module: str, name: str, word: str, group: str) -> ModuleType:
    try:
        return importlib.import_module(module.partition(":")[0])
    except (Exception, SystemExit) as error:
        who = ", ".join(f"{o.package} {o.version}" for o in provenance.offers_of(group, name)) or "unknown package"
        reason = f"{type(error).__name__}: {error}"
        raise PluginBrokenError(f"the {word} {name!r} ({who}) cannot be imported: {reason}") from error
