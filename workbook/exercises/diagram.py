"""Your agent, drawn: the parts that a run uses, in the order of a step, yours lit."""

from workbook.exercises.catalogue import exercises
from workbook.exercises.your_agent import folder, state
from workbook.pages import template

PRACTICE = "for practice"  # of a lesson without a part
ROLES = "writes the prompt", "reads the turn", "decides", "acts", "doubts", "looks back"
SIGNS = {"yours": "★", "ours": "·", "stale": "!"}
ABOUT = "★ = yours, · = ours, ! = yours, which did not pass its last check"


class YourAgent:
    """Parts by what they do: of each its slug, its sign, and whose it is.

    An exercise is a part if its entry names a role. Shown are the parts of one lesson,
    "05" or 5, or all; of a lesson without a part, its exercises.
    """

    def __init__(self, lesson: str | int = "") -> None:
        number = "" if lesson == "" else f"{lesson:0>2}"
        parts = {slug: each for slug, each in exercises().items() if each.role}
        own = {s: e for s, e in exercises().items() if e.lesson.startswith(number)}
        roles = {s: e.role for s, e in own.items() if e.role}
        roles = roles or dict.fromkeys(own, PRACTICE)
        states = {slug: state(slug) for slug in {**parts, **roles}}
        self.columns: dict[str, list[tuple[str, str, str]]] = {}
        for role in (*ROLES, PRACTICE):
            if found := [slug for slug in roles if roles[slug] == role]:
                marked = [(slug, SIGNS[states[slug]], states[slug]) for slug in found]
                self.columns[role] = marked
        count = [states[slug] for slug in parts].count("yours")
        self.title = f"your agent: {count} of {len(parts)} parts are yours"

    def __repr__(self) -> str:
        lines = [f"{self.title} ({folder()})"]
        for role, parts in self.columns.items():
            told = "  ".join(f"{sign} {slug}" for slug, sign, _ in parts)
            lines.append(f"  {role:18} {told}")
        return "\n".join([*lines, f"  {ABOUT}"])

    def _repr_html_(self) -> str:
        shown = template("shown.html").module.agent
        return str(shown(self.title, self.columns, ABOUT))


your_agent = YourAgent  # what one types
