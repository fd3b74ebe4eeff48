"""Your agent, drawn: the parts that a run uses, in the order of a step, yours lit."""

from collections.abc import Iterable

from workbook.exercises.catalogue import exercises
from workbook.exercises.your_agent import folder, state
from workbook.paths import template

ROLES = "writes the prompt", "reads the turn", "decides", "acts", "doubts", "looks back"
SIGNS = {"yours": "★", "ours": "·", "stale": "!"}
ABOUT = "★ yours · ours ! yours did not pass when it was last looked at"


class YourAgent:
    """Parts by what they do, and whose each is.

    The parts of one lesson, "05", or all. An exercise is a part where its entry names
    a role.
    """

    def __init__(self, lesson: str = "") -> None:
        parts = {slug: e.lesson for slug, e in exercises().items() if e.role}
        self.states = {slug: state(slug) for slug in parts}
        of_lesson = [slug for slug in parts if parts[slug].startswith(lesson)]
        self.shown = of_lesson or list(parts)

    def columns(self) -> dict[str, list[tuple[str, str, str]]]:
        """Return, by role, the parts to be shown: slug, sign, whose."""
        found = {role: list(self._of(role)) for role in ROLES}
        return {role: parts for role, parts in found.items() if parts}

    def _of(self, role: str) -> Iterable[tuple[str, str, str]]:
        for slug in self.shown:
            if exercises()[slug].role == role:
                yield slug, SIGNS[self.states[slug]], self.states[slug]

    @property
    def title(self) -> str:
        """How many of all parts are the learner's."""
        own = sum(whose == "yours" for whose in self.states.values())
        return f"your agent: {own} of {len(self.states)} parts are yours"

    def __repr__(self) -> str:
        lines = [f"{self.title} ({folder()})"]
        for role, parts in self.columns().items():
            told = "  ".join(f"{sign} {slug}" for slug, sign, _ in parts)
            lines.append(f"  {role:18} {told}")
        return "\n".join([*lines, f"  {ABOUT}"])

    def _repr_html_(self) -> str:
        shown = template("shown.html").module.agent
        return str(shown(self.title, self.columns(), ABOUT))


def your_agent(lesson: str = "") -> YourAgent:
    """Return a picture of your agent: the parts of a lesson, "05", or all of them."""
    return YourAgent(lesson)
