"""Your agent so far, drawn: its parts by what they do, yours lit."""

from pathlib import Path
from typing import Any

from workbook.exercises.catalogue import exercises
from workbook.exercises.kept import folder
from workbook.exercises.your_agent import Part, state
from workbook.paths import template
from workbook.record.show import Mermaid

ROLES = (
    *("writes the prompt", "reads the turn", "decides", "acts", "doubts"),
    *("grounds", "remembers", "looks back"),
)
LOOKS = {  # Mermaid's class, and a sign for those who see no colour
    "yours": ("fill:#2e7d32,stroke:#1b5e20,stroke-width:3px,color:#ffffff", "★"),
    "ours": ("fill:#eceff1,stroke:#78909c,color:#263238", "·"),
    "stale": ("fill:#ffe082,stroke:#b26a00,color:#3e2723", "!"),
}
ABOUT = "★ yours · ours ! yours did not pass when it was last looked at"


class YourAgent:
    """The parts by what they do, and whose each is."""

    def __init__(self) -> None:
        self.states = {slug: state(slug) for slug in exercises()}

    @property
    def all_yours(self) -> bool:
        return set(self.states.values()) == {"yours"}

    def of_role(self, role: str) -> dict[str, str]:
        found = exercises()
        return {s: whose for s, whose in self.states.items() if found[s].role == role}

    def __repr__(self) -> str:
        own = sum(whose == "yours" for whose in self.states.values())
        lines = [
            f"your agent: {own} of {len(self.states)} parts are yours ({folder()})"
        ]
        for role in ROLES:
            parts = (f"{LOOKS[w][1]} {slug}" for slug, w in self.of_role(role).items())
            lines.append(f"  {role:18} {'  '.join(parts)}")
        return "\n".join([*lines, f"  {ABOUT}"])

    def mermaid(self) -> str:
        """Return the diagram: a box for each role, a node for each part.

        Nodes without arrows stand across the direction of their box: in a column.
        """
        lines = ["flowchart LR"]
        for number, role in enumerate(ROLES):
            lines += [f'    subgraph r{number} ["{role}"]', "    direction LR"]
            for slug, whose in self.of_role(role).items():
                lines.append(f'    {slug}["{LOOKS[whose][1]} {slug}"]:::{whose}')
            lines.append("    end")
        lines += ["    r0 --> r1 --> r2 --> r3 --> r4 --> r0", "    r2 --> r5"]
        lines += ["    r6 --> r0", "    r2 -.-> r7"]
        lines += [f"    classDef {whose} {look}" for whose, (look, _) in LOOKS.items()]
        return "\n".join(lines)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        return {
            **Mermaid(self.mermaid())._repr_mimebundle_(**kwargs),
            "image/svg+xml": self.svg(),
            "text/plain": repr(self),
        }

    def svg(self) -> str:
        """Return the same for pages without Mermaid: a column for each role."""
        columns = {
            role: [
                (f"{LOOKS[whose][1]} {slug}", whose == "yours")
                for slug, whose in self.of_role(role).items()
            ]
            for role in ROLES
        }
        return str(template("shown.html").module.agent(columns, ABOUT))

    def write_page(self) -> Path:
        """Write a page that says what was built, with the tests that a part passes."""
        from workbook.exercises.grade import grade

        lines = ["# What you built", "", repr(self).partition("\n")[0], ""]
        lines += ["| part | what it does | lesson | tests |", "|---|---|---|---|"]
        for slug, exercise in exercises().items():
            report = grade(exercise, Part(slug).function)
            tests = f"{report.passed} of {report.total}"
            lesson = exercise.lesson[:2]
            lines.append(f"| `{slug}` | {exercise.title} | {lesson} | {tests} |")
        page = folder() / "what_you_built.md"
        page.write_text("\n".join([*lines, ""]), encoding="utf-8")
        return page


def your_agent() -> YourAgent:
    """Return the diagram of your agent, yours lit; a list where none is drawn."""
    return YourAgent()
