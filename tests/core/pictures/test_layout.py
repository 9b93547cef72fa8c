"""Places of boxes: none over another, frames around what stands in them, arrows from box to box and down."""

import time
from itertools import combinations

import pytest
from hypothesis import given, settings

from officellm.pictures.diagram import Arrow, Box, Diagram
from officellm.pictures.layout import layout
from officellm.pictures.measure import PAD_X, text_width, wrapped

from .anything import diagrams


def overlap(one, other):
    across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return across > 0.01 and down > 0.01


def holds(outer, inner):
    return (
        outer.x <= inner.x + 0.01
        and outer.y <= inner.y + 0.01
        and inner.x + inner.width <= outer.x + outer.width + 0.01
        and inner.y + inner.height <= outer.y + outer.height + 0.01
    )


@settings(deadline=None, max_examples=80)
@given(diagrams())
def test_no_two_boxes_overlap_and_frames_hold_what_stands_in_them(diagram):
    made = layout(diagram)
    placed = {one.box.id: one for one in made.boxes}
    assert placed.keys() == {box.id for box in diagram.boxes}
    for one in made.boxes:
        assert one.x >= 0
        assert one.y >= 0
        assert one.x + one.width <= made.width
        assert one.y + one.height <= made.height
        assert one.words.width <= one.width - 2 * PAD_X + 0.01
        if one.box.inside:
            assert holds(placed[one.box.inside], one)
    for one, other in combinations(made.boxes, 2):
        if one.box.inside == other.box.inside:
            assert not overlap(one, other), (one.box.id, other.box.id)


@settings(deadline=None, max_examples=80)
@given(diagrams())
def test_every_arrow_joins_its_two_boxes_and_stays_in_the_picture(diagram):
    made = layout(diagram)
    placed = {one.box.id: one for one in made.boxes}
    assert sorted(map(repr, (way.arrow for way in made.ways))) == sorted(map(repr, diagram.arrows))
    for way in made.ways:
        source, target = placed[way.arrow.source], placed[way.arrow.target]
        for (x, y), box in ((way.points[0], source), (way.points[-1], target)):
            assert box.x - 0.01 <= x <= box.x + box.width + 0.01
            assert box.y - 0.01 <= y <= box.y + box.height + 0.01
        for x, y in [*way.points, way.label_at]:
            assert 0 <= x <= made.width + 0.01
            assert 0 <= y <= made.height + 0.01


@settings(deadline=None, max_examples=60)
@given(diagrams(kinds=("after",)))
def test_without_circles_every_arrow_leads_down(diagram):
    made = layout(diagram)
    placed = {one.box.id: one for one in made.boxes}
    for way in made.ways:
        source, target = placed[way.arrow.source], placed[way.arrow.target]
        assert source.y + source.height < target.y
        assert not way.back
        heights = [y for _, y in way.points]
        assert heights == sorted(heights)


@settings(deadline=None, max_examples=60)
@given(diagrams(kinds=("after",), nested=False))
def test_a_long_arrow_passes_beside_the_boxes_between(diagram):
    made = layout(diagram)
    for way in made.ways:
        for (x, y), (_, to_y) in zip(way.points[2:-2:2], way.points[3:-2:2], strict=True):
            for one in made.boxes:
                inside = one.x < x < one.x + one.width
                assert not (inside and one.y < to_y and y < one.y + one.height)


def test_a_diamond_is_drawn_as_one():
    boxes = [Box(id=name, lines=[name]) for name in "abcd"]
    pairs = ("ab", "ac", "bd", "cd")
    made = layout(Diagram("diamond", boxes, [Arrow(*pair) for pair in pairs]))
    a, b, c, d = made.boxes
    assert (a.x, a.width) == (d.x, d.width)
    assert b.y == c.y
    assert abs((b.x + c.x) / 2 - a.x) < 1
    assert a.y < b.y < d.y


def test_crossings_that_can_be_avoided_are_avoided():
    boxes = [Box(id=name, lines=[name]) for name in ("a", "b", "for b", "for a")]
    made = layout(Diagram("", boxes, [Arrow("a", "for a"), Arrow("b", "for b")]))
    at = {one.box.id: one.x for one in made.boxes}
    assert (at["a"] < at["b"]) == (at["for a"] < at["for b"])


@pytest.mark.parametrize(
    "text", ["word " * 40, "x" * 300, "日" * 120, "W" * 80, "a b", "", "one\ntwo"], ids=lambda text: text[:4]
)
def test_a_text_is_wrapped_to_a_few_lines_that_fit(text):
    lines = wrapped(text, "line", 200)
    assert 1 <= len(lines) <= 3
    assert all(text_width(line, "line") <= 200 + 12 for line in lines)
    if len(text) > 100:
        assert lines[-1].endswith("…")


def chain_and_final(count):
    chain = [Arrow(str(number), str(number + 1)) for number in range(count - 1)]
    return chain + [Arrow(str(number), str(count - 1)) for number in range(count - 2)]


SHAPES = {
    "each to the last": chain_and_final,
    "fan": lambda count: [Arrow("0", str(number)) for number in range(1, count)],
    "circle": lambda count: [Arrow(str(number), str((number + 1) % count), "transfer") for number in range(count)],
    "long ways back": lambda count: [
        *(Arrow(str(number), str(number + 1)) for number in range(count - 1)),
        *(Arrow(str(number), "0", "back", "again") for number in range(1, count)),
    ],
    "alone": lambda count: [],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_thousand_boxes_are_quick(shape):
    diagram = Diagram(
        "", [Box(id=str(number), lines=[f"node {number}"]) for number in range(1000)], SHAPES[shape](1000)
    )
    started = time.process_time()
    made = layout(diagram)
    assert time.process_time() - started < 5  # a tenth of it, on a slow machine
    assert len(made.boxes) == 1000


def test_frames_in_frames_may_be_as_deep_as_they_like():
    boxes = [Box(id=str(n), lines=[str(n)], inside=str(n - 1) if n else "") for n in range(3000)]
    made = layout(Diagram("", boxes))
    assert holds(made.boxes[0], made.boxes[-1])


@settings(deadline=None, max_examples=60)
@given(diagrams())
def test_labels_stand_in_the_picture_and_on_no_box(diagram):
    made = layout(diagram)
    leaves = [one for one in made.boxes if not one.is_frame]
    for way in made.ways:
        x, bottom = way.label_at
        left = x if way.back else x - way.label.width / 2
        if way.label.lines:
            assert left >= 0
            assert left + way.label.width <= made.width
            assert bottom - way.label.height >= 0
            for one in leaves:
                across = min(one.x + one.width, left + way.label.width) - max(one.x, left)
                down = min(one.y + one.height, bottom) - max(one.y, bottom - way.label.height)
                assert across <= 0.01 or down <= 0.01, (way.arrow, one.box.id)
