"""The map of the course, with the state of your exercises."""

from workbook.checks.catalogue import Lesson, exercises, lessons
from workbook.checks.parts import state
from workbook.stage.predict import page
from workbook.stage.shown import Shown


def course() -> Shown:
    """Return the lessons as a map: picture, minutes, labs, and what you have passed.

    On top is a link to the last lesson begun or, if all of it is passed, the next one.
    Links are relative to `notebooks/`.
    """
    states: dict[str, list[str]] = {slug: [] for slug in lessons()}
    for slug, exercise in exercises().items():
        states[exercise.lesson].append(state(slug))
    own = [lesson for lesson in lessons().values() if not lesson.lab]
    labs: dict[str, list[Lesson]] = {lesson.slug[:2]: [] for lesson in own}
    for lesson in lessons().values():
        if lesson.lab:
            labs[lesson.slug[:2]].append(lesson)
    begun = [n for n, each in enumerate(own) if "yours" in states[each.slug]]
    last = begun[-1] if begun else 0
    is_done = {*states[own[last].slug]} == {"yours"}
    next_one = next(iter(own[last + is_done :]), None)
    return Shown(page("course", own, labs, states, next_one))
