"""Gives every slot of ordered layers its x: as near to its neighbours as it can be, and none over another."""

from __future__ import annotations

from collections.abc import Sequence

from officellm.pictures.layers import Slot

GAP, GAP_POINT = 34.0, 14.0
_SWEEPS = 8


def place(layers: Sequence[Sequence[Slot]]) -> float:
    """Set `x`, the middle of each slot, from 0 on; return the width of them all."""
    for layer in layers:
        _settle(layer, [0.0] * len(layer))
    for _ in range(_SWEEPS):
        for layer in layers[1:]:
            _settle(layer, [_middle(slot, slot.above) for slot in layer])
        for layer in reversed(layers[:-1]):
            _settle(layer, [_middle(slot, slot.below) for slot in layer])
    for layer in layers:
        _settle(layer, [_middle(slot, [*slot.above, *slot.below]) for slot in layer])
    slots = [slot for layer in layers for slot in layer]
    joined = [slot.x for slot in slots if slot.above or slot.below]
    for layer in layers:
        if joined and not any(slot.above or slot.below for slot in layer):
            _settle(layer, [(min(joined) + max(joined)) / 2] * len(layer))
    left = min((slot.x - slot.width / 2 for slot in slots), default=0.0)
    for slot in slots:
        slot.x -= left
    return max((slot.x + slot.width / 2 for slot in slots), default=0.0)


def _middle(slot: Slot, near: Sequence[Slot]) -> float:
    if slot.beside is not None:
        nearest = slot.beside.x + (slot.beside.width + slot.width) / 2 + GAP_POINT
        return max([nearest, *(other.x for other in near)])
    return sum(other.x for other in near) / len(near) if near else slot.x


def _settle(layer: Sequence[Slot], wanted: Sequence[float]) -> None:
    """The places that are nearest to the wanted ones, in order and apart (least squares, by pooling neighbours)."""
    offsets: list[float] = []
    at = 0.0
    for number, slot in enumerate(layer):
        if number:
            before = layer[number - 1]
            at += (before.width + slot.width) / 2 + (GAP if before.is_box and slot.is_box else GAP_POINT)
        offsets.append(at)
    pools: list[tuple[float, float, int]] = []  # sum of weighted wishes, weight, how many slots
    for slot, wish, offset in zip(layer, wanted, offsets, strict=True):
        weight = 1.0 if slot.is_box else 3.0
        pool = ((wish - offset) * weight, weight, 1)
        while pools and pools[-1][0] / pools[-1][1] >= pool[0] / pool[1]:
            total, heavy, count = pools.pop()
            pool = (total + pool[0], heavy + pool[1], count + pool[2])
        pools.append(pool)
    number = 0
    for total, weight, count in pools:
        for _ in range(count):
            layer[number].x = total / weight + offsets[number]
            number += 1
