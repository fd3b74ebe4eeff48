"""Makes the pictures of the README and of the lessons anew, in JupyterLab.

    python -m tests.browser.make_pictures          # all, in five to eight minutes
    python -m tests.browser.make_pictures 05 07    # those of two lessons

A lesson is opened and run as it ships, with recorded answers in place of the real
model's. A picture is a part of what one cell shows, in the light theme, on white and
larger than on the screen: it can be read on a dark page, too.
"""

import io
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from PIL import Image, ImageOps
from playwright.sync_api import expect

from tests.browser.conftest import PICTURES, Window, browsing, serving
from workbook.checks.catalogue import lessons

SIZE = {"width": 1000, "height": 1500}  # so high that nothing has to scroll
SCALE, WIDTH, MARGIN = 1.5, 1260, 15
NO_FILES = "jupyterapp.commands.execute('application:toggle-left-area')"
MOST, PLAIN = 60_000, Image.Dither.NONE  # bytes of a picture; no noise for colours


def be_the_model(shown):
    """Write a turn, and get an observation."""
    shown.get_by_role("button", name="Show me one turn").click()
    shown.get_by_role("button", name="Send my turn").click()
    expect(shown).to_contain_text("Observation")
    shown.get_by_role("textbox").fill("Thought: I take that off the price.\n")


def second_request(shown):
    """Step to where the model is asked for the second time."""
    for _ in range(9):
        shown.get_by_role("button", name="Step", exact=True).click()
    expect(shown.get_by_role("status")).to_contain_text("Event 9")


def until_a_person_is_asked(shown):
    shown.get_by_role("button", name="To the end", exact=True).click()
    approve = shown.get_by_role("button", name="Approve", exact=True)
    expect(approve).to_be_visible()


def without_events(shown):
    """Take away what can be unfolded: with it the table is higher than the page."""
    shown.locator("table details").evaluate_all("all => all.forEach(e => e.remove())")


@dataclass
class Picture:
    """A part of what a cell shows: both are named by words or a selector in them."""

    file: str
    lesson: str
    cell: str
    part: str
    until: str = ""  # the last element of the part that is in the picture
    play: Callable | None = None  # what is done with what the cell shows before


PARTS = [
    Picture("player", "05", "player(", ".player", play=second_request),
    Picture("lesson_00", "00", "be_the_model()", ".be-the-model", play=be_the_model),
    Picture("lesson_01", "01", "before = gallery(", ".gallery"),
    Picture("lesson_02", "02", "for thought in [", "table"),
    Picture(
        *("lesson_03", "03", "DebugLog(), Journal()", ".wb-scroll"),
        "tbody tr:nth-child(14)",
    ),
    Picture(
        *("lesson_04", "04", "tool = percent_tool()", ".wb-scroll"),
        ".wb-block:nth-child(10)",
    ),
    Picture("lesson_05", "05", "display(Mermaid(small", ".jp-RenderedMermaid img"),
    Picture(
        *("lesson_06", "06", "stopped_at(theirs | own"),
        ".wb-scroll:has-text('opencode')",
    ),
    Picture(
        *("lesson_07", "07", 'player("mend_the_test"', ".approval"),
        play=until_a_person_is_asked,
    ),
    Picture("lesson_08", "08", "asked.reveal(", "table"),
    Picture("lesson_09", "09", '"town_four_constraints", "right', ".wb-scroll"),
    Picture(
        *("lesson_10", "10", "untrusted.attacks(", "table", "tbody tr:nth-child(9)"),
        play=without_events,
    ),
    Picture("lesson_11", "11", "stage.chart(", "img"),
    Picture("lesson_12", "12", "in_forms(forms)", "table"),
    Picture("lesson_13", "13", 'found["hotpotqa_act"]', "table"),
    Picture("lesson_14", "14", "own.played(mine", "table"),
]


def take(lesson, picture):
    """Return a part of the page, with a margin on white."""
    output = lesson.output(picture.cell)
    if picture.play:
        picture.play(output)
    shown = output.locator(picture.part).first
    lesson.page.mouse.move(0, 0)  # what is under it may have another colour
    shown.evaluate("e => e.scrollIntoView({block: 'center'})")
    box = shown.bounding_box()
    if picture.until:
        last = shown.locator(picture.until).last.bounding_box()
        box["height"] = last["y"] + last["height"] - box["y"]
    image = Image.open(io.BytesIO(lesson.page.screenshot(clip=box))).convert("RGB")
    image = ImageOps.expand(image, MARGIN, "white")
    if image.width < WIDTH:
        image = ImageOps.expand(image, (0, 0, WIDTH - image.width, 0), "white")
    return image


def as_png(image):
    """Return a picture's bytes: fewer colours, then smaller, until they are few."""
    for size, colours in product((1, 0.85, 0.7), (64, 40, 24)):
        few = ImageOps.scale(image, size).quantize(colours, kmeans=2, dither=PLAIN)
        few.save(data := io.BytesIO(), "PNG", optimize=True)
        if data.tell() < MOST:
            break
    return data.getvalue()


def main(wanted):
    slugs = {slug[:2]: slug for slug, lesson in lessons().items() if not lesson.lab}
    with (
        tempfile.TemporaryDirectory() as home,
        serving(Path(home)) as lab,
        browsing() as browser,
    ):
        window = Window(browser, lab, device_scale_factor=SCALE)
        window.page.evaluate(NO_FILES)
        for number in wanted or slugs:
            lesson = window.open(slugs[number], size=SIZE)
            lesson.run_all()
            for picture in PARTS:
                if picture.lesson == number:
                    path = PICTURES / f"{picture.file}.png"
                    path.write_bytes(as_png(take(lesson, picture)))
                    print(f"{path.name} {path.stat().st_size:,} bytes")
        window.close_all()


if __name__ == "__main__":
    main(sys.argv[1:])
