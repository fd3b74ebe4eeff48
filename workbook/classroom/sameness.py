"""When two answers are the same: the shape of a function, whatever its names are.

Names, comments, docstrings, types and layout do not count. It knows no learner.
"""

import ast
import re
from functools import cache

from workbook.exercises.catalogue import exercises
from workbook.exercises.check import source_with_helpers

# Of 58 pairs, our function and our hint filled, 9 of the 24 smaller ones are the same,
# and 1 of the 34 others, which is a formula.
FEWEST_NODES = 100
MOST_CHARACTERS = 50_000  # of a cell that is looked at: a person writes less
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


def shape(text: str, slug: str) -> str:
    """Return a text that is equal for two answers that differ in no step.

    It is "" for what Python cannot read, and for what is so short that two people may
    well write the same.
    """
    try:
        tree = _bare(text)
        if sum(1 for _ in ast.walk(tree)) < FEWEST_NODES:
            return ""
        return _renamed(tree, apart=True)
    except UNREADABLE:
        return ""


def is_ours(slug: str, text: str) -> bool:
    """Say whether it is what `solution` or the last hint shows, under any names."""
    try:
        mine = _renamed(_bare(text), apart=False)
    except UNREADABLE:
        return False
    return any(re.fullmatch(known, mine) for known in _known(slug))


@cache
def _known(slug: str) -> list[str]:
    """Return our answer and the hint as patterns; the hint's gap takes anything."""
    exercise = exercises()[slug]
    texts = [exercise.hints[-1], source_with_helpers(exercise.function())]
    patterns = []
    for text in texts:
        whole = re.escape(_renamed(_bare(text), apart=False))
        patterns.append(whole.replace(re.escape(ast.dump(_name("___"))), ".+"))
    return patterns


def _name(word: str) -> ast.Name:
    return ast.Name(word, ast.Load())


def _bare(text: str) -> ast.Module:
    """Return the functions and classes of a text, without what is only said."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns, node.decorator_list = None, []
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.AnnAssign):
            node.annotation = _name("type")
        for body in [getattr(node, "body", None)]:
            if isinstance(body, list):
                body[:] = [each for each in body if not _is_text(each)]
    keep = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    tree.body = [node for node in tree.body if isinstance(node, keep)]
    return tree


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _renamed(tree: ast.Module, *, apart: bool) -> str:
    """Return the tree as text: what it binds is called by number, or all the same."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        for word in _binds(node):
            bound.setdefault(word, f"v{len(bound) if apart else ''}")
    for node in ast.walk(tree):
        for field in ("id", "arg", "name"):
            old: object = getattr(node, field, None)
            if isinstance(old, str) and not isinstance(node, ast.keyword):
                setattr(node, field, bound.get(old, old))
    return ast.dump(tree)


def _binds(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=word, ctx=ast.Store()):
            return [word]
        case ast.arg(arg=word):
            return [word]
        case (
            ast.FunctionDef(name=word)
            | ast.AsyncFunctionDef(name=word)
            | ast.ClassDef(name=word)
            | ast.ExceptHandler(name=str(word))
            | ast.MatchAs(name=str(word))
            | ast.MatchStar(name=str(word))
        ):
            return [word]
    return []
