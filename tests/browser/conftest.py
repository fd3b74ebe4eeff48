"""JupyterLab in a real browser, on a copy of the lessons.

All tests of a process share one page: a lesson is a tab of it, closed with its kernel
when the next is opened. What succeeds may take long; only what fails is waited for.
"""

import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.learner import answer_to
from workbook.checks.catalogue import exercises

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS, PICTURES = ROOT / "notebooks", ROOT / "data" / "pictures"
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "apputils-extension/themes": {"adaptive-theme": False},
    "notebook-extension/tracker": {"windowingMode": "none"},
    "docmanager-extension/plugin": {"autosave": False},
}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZE, SMALL = {"width": 1280, "height": 900}, {"width": 1024, "height": 768}
LIMIT_S, CELLS_MS = 120, 600_000
expect.set_options(timeout=LIMIT_S * 1000)
HERE = Path(__file__).parent
REFUSED = re.compile("· (wrong|your code raised) ·")
# A stub that is solved, hints, a widget; then a gallery, a player and a plot.
BY_DEFAULT = {
    "test_lesson_00_from_run_all_to_a_solved_exercise",
    "test_lesson_06_from_the_gallery_to_the_player",
}


def pytest_collection_modifyitems(items):
    """Leave all but two lessons to CI, or to whoever names them: each takes long."""
    for item in items:
        if HERE in item.path.parents and item.name not in BY_DEFAULT:
            item.add_marker(pytest.mark.in_ci)


def chromium():
    """Return the path of a Chromium, or fail with what to install."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    message = "the browser tests need Chromium: apt-get install chromium"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="package")
def browser():
    """A headless Chromium; its event loop ends with the tests of this folder."""
    with browsing() as browser:
        yield browser


@contextmanager
def browsing():
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def serving(home):
    """Serve a copy of the lessons and their pictures; yield its `url` and `home`."""
    shutil.copytree(NOTEBOOKS, home / "notebooks")
    shutil.copytree(PICTURES, home / "data" / "pictures")
    for name, settings in SETTINGS.items():
        path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(8)
    server = subprocess.Popen(
        [
            *(sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"),
            "--LabApp.expose_app_in_browser=True",
            f"--ServerApp.port={port}",
            f"--IdentityProvider.token={token}",
            f"--ServerApp.root_dir={home}",
        ],
        env={
            **os.environ,
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "WORKBOOK_DATA": str(home / "progress"),
            "WORKBOOK_RECORD": "0",  # the real model is asked in labs alone
        },
        stdout=(home / "server.log").open("w"),
        stderr=subprocess.STDOUT,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(f"{address}/api?token={token}", server)
        yield SimpleNamespace(home=home, url=f"{address}/lab?token={token}&reset")
    finally:
        server.kill()
        server.wait()


def _wait_for(url, server):
    for _ in range(LIMIT_S * 5):
        with suppress(OSError), urllib.request.urlopen(url, timeout=2):
            return
        assert server.poll() is None, f"JupyterLab ended with code {server.returncode}"
        time.sleep(0.2)  # until it is asked again
    pytest.fail(f"JupyterLab did not answer within {LIMIT_S} s")


class Window:
    """A page with JupyterLab, which shows one lesson at a time."""

    def __init__(self, browser, lab, **looks):
        self.page, self.lab = browser.new_page(viewport=SIZE, **looks), lab
        self.page.set_default_timeout(LIMIT_S * 1000)
        self.page.goto(lab.url)
        self.page.wait_for_function("window.jupyterapp")
        self.page.evaluate("jupyterapp.restored")

    def open(self, name, size=SIZE):
        """Open a lesson as it ships, and wait for its kernel."""
        self.close_all()
        self.page.set_viewport_size(size)
        path = f"notebooks/{name}.ipynb"
        shutil.copy(ROOT / path, self.lab.home / path)
        return self._show(path)

    def open_anew(self, lesson):
        """Save a lesson, end its kernel, and open it again."""
        lesson.command("docmanager:save")
        expect(self.page.locator(".jp-mod-dirty")).to_have_count(0)
        self.close_all()
        return self._show(lesson.path)

    def close_all(self):
        """Close the lesson without saving, and end its kernel."""
        self.page.evaluate(CLOSE)

    def _show(self, path):
        self.page.evaluate(OPEN, path)
        self.page.wait_for_selector(".jp-CodeCell .cm-content")
        return LessonPage(self.page, path)


CLOSE = """async () => {
    for (const each of [...jupyterapp.shell.widgets("main")]) each.dispose();
    await jupyterapp.serviceManager.sessions.shutdownAll();
}"""
OPEN = """async path => {
    const options = {path, factory: "Notebook"};
    const panel = await jupyterapp.commands.execute("docmanager:open", options);
    await Promise.all([panel.context.ready, panel.sessionContext.ready]);
    await panel.sessionContext.session.kernel.info;
}"""
FIRST = """code => jupyterapp.shell.currentWidget.sessionContext.session.kernel
    .requestExecute({code}).done"""


class LessonPage:
    """One lesson, open in JupyterLab."""

    def __init__(self, page, path):
        self.page, self.path = page, path
        self.exercises = sum(e.lesson == Path(path).stem for e in exercises().values())

    def cell(self, words):
        """Return the code cell whose source holds these words."""
        editor = self.page.locator(".cm-content", has_text=words)
        return self.page.locator(".jp-CodeCell").filter(has=editor).first

    def output(self, words):
        """Return what the cell with these words shows."""
        return self.cell(words).locator(".jp-Cell-outputArea")

    def type_into(self, words, source):
        """Replace a cell's source by typing, and run the cell."""
        self.cell(words).locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(source)
        self.page.keyboard.press("Control+Enter")

    def run(self, words):
        """Run one cell."""
        self.cell(words).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")

    def command(self, name, **arguments):
        """Give a command of JupyterLab's, as its menus do."""
        call = "([name, given]) => { jupyterapp.commands.execute(name, given); }"
        self.page.evaluate(call, [name, arguments])

    def run_all(self):
        """Run all cells, and wait for the last code cell.

        A lesson that ships runs without an error, and each exercise is a stub.
        """
        self.command("notebook:run-all-cells")
        prompts = self.page.locator(".jp-CodeCell .jp-InputPrompt")
        done = [re.compile(r"^(\[\d+\]:)?$")] * prompts.count()  # none if folded
        expect(prompts).to_have_text(done, timeout=CELLS_MS)
        kinds = "[data-mime-type='application/vnd.jupyter.{}']"
        errors = self.page.locator(f".jp-OutputArea-output{kinds.format('error')}")
        assert errors.all_inner_texts() == []
        red = self.page.locator(kinds.format("stderr"))
        announced = self.page.get_by_text("in a red box").count()
        assert red.count() <= announced, red.all_inner_texts()
        stubs = self.page.locator(".workbook-report", has_text="not attempted")
        expect(stubs).to_have_count(self.exercises)

    def solve(self, slug, wrong="return 'wrong'", message=(REFUSED,)):
        """Type a wrong answer, read its message, then solve the exercise."""
        check = f"{slug} = check({slug})"
        expect(self.output(check)).to_contain_text("not attempted")
        wrong = f"def {slug}(*args, **options):\n    {wrong}\n"
        self.type_into(f"def {slug}(", f"{wrong}\n\n{check}")
        for words in message:
            expect(self.output(check)).to_contain_text(words)
        self.type_into(f"def {slug}(", f"{answer_to(slug)}\n\n{check}")
        expect(self.output(check)).to_contain_text("passed")

    def player(self, words):
        """Return the player that the cell with these words shows."""
        root = self.output(words).locator(".player")
        root.scroll_into_view_if_needed()
        player = PlayerPage(root)
        player.play_fast()
        return player

    def choose_theme(self, name):
        self.command("apputils:change-theme", theme=name)
        expect(self.page.locator(f"body[data-jp-theme-name='{name}']")).to_have_count(1)

    def both_themes(self):
        """Choose one theme after the other, and the light one in the end."""
        try:
            for theme in ("JupyterLab Dark", "JupyterLab Light"):
                self.choose_theme(theme)
                yield theme
        finally:
            self.choose_theme("JupyterLab Light")


@pytest.fixture(scope="package")
def window(browser, tmp_path_factory):
    """JupyterLab on a copy of the lessons, in one page for all tests."""
    with serving(tmp_path_factory.mktemp("lab")) as lab:
        window = Window(browser, lab)
        yield window
        window.close_all()


WIDE = ".jp-OutputArea-output"
SIDEWAYS = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"


@pytest.fixture
def ran(window):
    """Return a function that opens a notebook on a small screen and runs all of it.

    No output is cut off; `first` is code that its kernel runs before.
    """

    def ran(name, first=""):
        lesson = window.open(name, size=SMALL)
        if first:
            window.page.evaluate(FIRST, first)
        lesson.run_all()
        assert lesson.page.locator(WIDE).evaluate_all(SIDEWAYS) == 0
        return lesson

    return ran


CELL = "be_the_model()"  # a cell of lesson 00 that the tests write over

READABLE = 4.5  # the contrast that WCAG asks of text, at the least
CONTRASTS = """(root, selector) => {
    const rgb = text => text.match(/[\\d.]+/g).map(Number);
    const light = colour => {
        const [r, g, b] = rgb(colour).map(c => c / 255).map(
            c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (one, other) => {
        const two = [light(one), light(other)];
        return (Math.max(...two) + 0.05) / (Math.min(...two) + 0.05);
    };
    const solid = text => rgb(text).length < 4 || rgb(text)[3] > 0.5;
    const paper = e => {
        while (e && !solid(getComputedStyle(e).backgroundColor)) e = e.parentElement;
        return e ? getComputedStyle(e).backgroundColor : "rgb(255, 255, 255)";
    };
    return [...root.querySelectorAll(selector)].map(
        e => contrast(getComputedStyle(e).color, paper(e)));
}"""


class PlayerPage:
    """A player that a notebook shows."""

    def __init__(self, root):
        self.root, self.page = root, root.page
        self.form = root.locator(".approval")
        self.status = root.locator("[role=status]")

    def play_fast(self):
        """Let it play five events a second, so that nobody has to wait for it."""
        self.root.get_by_label("speed").select_option("5 a second")

    def button(self, name):
        return self.root.get_by_role("button", name=name, exact=True)

    def press(self, *names):
        for name in names:
            self.button(name).click()

    def expect_status(self, words):
        expect(self.status).to_contain_text(words)
