"""JupyterLab in a real browser, on a copy of the lessons."""

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
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Error, expect, sync_playwright

from tests.learner import answer_to
from workbook.checks.catalogue import exercises

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS, PICTURES = ROOT / "notebooks", ROOT / "data" / "pictures"
SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "apputils-extension/themes": {"adaptive-theme": True},
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
LAB_TIMEOUT_S = 60
SIZE = {"width": 1280, "height": 900}
START_TIMEOUT_MS = 120_000  # a cold machine reads every file for the first time
CELL_TIMEOUT_MS = 120_000
expect.set_options(timeout=30_000)
HERE = Path(__file__).parent
REFUSED = re.compile("· (wrong|your code raised) ·")
# A stub that is solved, hints, a widget; then a gallery, a player and a plot.
BY_DEFAULT = {
    "test_lesson_00_from_the_menu_to_a_solved_exercise",
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


@pytest.fixture(scope="package")
def lab(tmp_path_factory):
    """A JupyterLab server on a copy of the lessons: its address with a token."""
    with serving(tmp_path_factory.mktemp("lab")) as address:
        yield address


@contextmanager
def serving(home):
    """Serve a copy of the lessons and their pictures; yield a notebook's address."""
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
            "WORKBOOK_RECORD": "0",  # the real model is asked in tests/notebooks
        },
        stdout=(home / "server.log").open("w"),
        stderr=subprocess.STDOUT,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{address}/api?token={token}", server)
        # With `reset`, a page does not restore the tabs of the one before it.
        tree = f"{address}/lab/tree/notebooks"

        def fresh(path):  # of the test before it may have been saved
            shutil.copy(NOTEBOOKS / path, home / "notebooks" / path)
            return f"{tree}/{path}?token={token}&reset"

        yield fresh
    finally:
        server.terminate()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:  # it waits long for a kernel that restarted
            server.kill()
            server.wait(timeout=20)


def _wait_for(url, server):
    deadline = time.monotonic() + LAB_TIMEOUT_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            pytest.fail(f"JupyterLab ended with code {server.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            server_is_starting = 0.2
            time.sleep(server_is_starting)
    pytest.fail(f"JupyterLab did not answer within {LAB_TIMEOUT_S} s")


class LessonPage:
    """One lesson, open in JupyterLab."""

    def __init__(self, page, name):
        self.page = page
        slug = name.rpartition("/")[2]  # a lab is in a folder of its own
        self.exercises = sum(each.lesson == slug for each in exercises().values())

    def cell(self, words):
        """Return the code cell whose source holds these words."""
        editor = self.page.locator(".cm-content", has_text=words)
        return self.page.locator(".jp-CodeCell").filter(has=editor).first

    def output(self, words):
        """Return what the cell with these words shows."""
        return self.cell(words).locator(".jp-Cell-outputArea")

    def type_into(self, words, source):
        """Replace a cell's source by typing, and run the cell."""
        cell = self.cell(words)
        cell.scroll_into_view_if_needed()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(source)
        self.page.keyboard.press("Control+Enter")

    def run(self, words):
        """Run one cell."""
        cell = self.cell(words)
        cell.scroll_into_view_if_needed()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")

    def run_all(self):
        """Choose Run All Cells from the menu and wait for the last code cell.

        A lesson that ships runs without an error, and each exercise is a stub.
        """
        label = self.page.locator(".lm-Menu-itemLabel")
        item = label.get_by_text("Run All Cells", exact=True)
        prompts = self.page.locator(".jp-CodeCell .jp-InputPrompt")
        for _ in range(5):  # a menu that has only begun to open ignores the click
            assert self.dialogs() == []
            self.page.get_by_role("menuitem", name="Run", exact=True).click()
            item.hover()
            item.click()
            try:
                expect(prompts.first).not_to_have_text("[ ]:", timeout=4_000)
                break
            except AssertionError:
                self.page.keyboard.press("Escape")
        done = [
            re.compile(r"^(\[\d+\]:)?$")
        ] * prompts.count()  # none where it is folded
        expect(prompts).to_have_text(done, timeout=CELL_TIMEOUT_MS)
        assert self.errors() == []
        red = self.page.locator('[data-mime-type="application/vnd.jupyter.stderr"]')
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
        return PlayerPage(root)

    def wait_for_kernel(self):
        """Wait until the kernel has started and is idle.

        Before it has started, JupyterLab shows "No Kernel" with an idle indicator, and
        Run All would ask which kernel is meant.
        """
        name = self.page.locator(".jp-NotebookPanel-toolbar .jp-KernelName")
        expect(name).to_contain_text("Python 3", timeout=START_TIMEOUT_MS)
        indicator = self.page.locator(".jp-Notebook-ExecutionIndicator")
        expect(indicator).to_have_attribute(
            "data-status", "idle", timeout=START_TIMEOUT_MS
        )

    def choose_theme(self, name):
        """Choose a theme from the menu; the server keeps it until another is chosen."""
        label = self.page.locator(".lm-Menu-itemLabel")
        chosen = self.page.locator(f"body[data-jp-theme-name='{name}']")
        for _ in range(5):  # a menu that has only begun to open ignores the click
            self.page.get_by_role("menuitem", name="Settings", exact=True).click()
            label.get_by_text("Theme", exact=True).hover()
            label.get_by_text("Theme", exact=True).click()
            label.get_by_text(name, exact=True).hover()
            label.get_by_text(name, exact=True).click()
            try:
                expect(chosen).to_have_count(1, timeout=4_000)
                break
            except AssertionError:
                self.page.keyboard.press("Escape")
        expect(chosen).to_have_count(1)

    def both_themes(self):
        """Choose one theme after the other, and the light one in the end."""
        try:
            for theme in ("JupyterLab Dark", "JupyterLab Light"):
                self.choose_theme(theme)
                yield theme
        finally:
            self.choose_theme("JupyterLab Light")

    def restart_kernel(self):
        """Choose Restart Kernel from the menu."""
        self.page.get_by_role("menuitem", name="Kernel", exact=True).click()
        label = self.page.locator(".lm-Menu-itemLabel")
        label.get_by_text("Restart Kernel…", exact=True).click()
        self.page.locator(".jp-Dialog .jp-mod-accept").click()

    def save(self):
        """Save the notebook by its key."""
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("Control+s")
        expect(self.page.locator(".jp-mod-dirty")).to_have_count(0)

    def save_and_open_anew(self):
        """Save the notebook, end its kernel, and open it again."""
        self.save()
        self.page.evaluate(END_SESSIONS)
        self.page.reload()
        self.page.wait_for_selector(".jp-CodeCell .cm-content")

    def dialogs(self):
        """Return what open dialogs say; a learner sees none."""
        return self.page.locator("dialog").all_inner_texts()

    def errors(self):
        """Return the tracebacks that stand on the page."""
        area = self.page.locator(
            '.jp-OutputArea-output[data-mime-type="application/vnd.jupyter.error"]'
        )
        return area.all_inner_texts()


@pytest.fixture
def open_lesson(lab, browser):
    """Return a function that opens a lesson and waits for its kernel."""
    with pages(lab, browser) as open_:
        yield open_


@pytest.fixture
def ran(open_lesson):
    """Return a function that opens a lesson and runs all of it."""

    def ran(name, **looks):
        lesson = open_lesson(name, **looks)
        lesson.run_all()
        return lesson

    return ran


@contextmanager
def pages(lab, browser):
    """Open lessons as tabs, which are closed at the end."""
    opened = []

    def open_(name, color_scheme="light", size=SIZE, **looks):
        page = browser.new_page(viewport=size, color_scheme=color_scheme, **looks)
        opened.append(page)
        page.goto(lab(f"{name}.ipynb"))
        page.wait_for_selector(".jp-CodeCell .cm-content", timeout=START_TIMEOUT_MS)
        lesson = LessonPage(page, name)
        lesson.wait_for_kernel()
        return lesson

    yield open_
    for page in opened:
        try:
            page.close()
        except Error as error:
            print(f"the page was closed already: {error}")


CELL = "be_the_model()"  # a cell of lesson 00 that the tests write over

READABLE = 4.5  # the contrast that WCAG asks of text, at the least
LUMINANCE = """
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
    };"""
CONTRASTS = f"""(root, selector) => {{
    {LUMINANCE}
    return [...root.querySelectorAll(selector)].map(
        e => contrast(getComputedStyle(e).color, paper(e)));
}}"""
END_SESSIONS = """async () => {
    const page = document.getElementById("jupyter-config-data");
    const config = JSON.parse(page.textContent);
    const headers = {Authorization: `token ${config.token}`};
    const api = config.baseUrl + "api/sessions";
    for (const one of await (await fetch(api, {headers})).json())
        await fetch(`${api}/${one.id}`, {method: "DELETE", headers});
}"""


class PlayerPage:
    """A player that a notebook shows."""

    def __init__(self, root):
        self.root, self.page = root, root.page
        self.form = root.locator(".approval")
        self.status = self.root.locator("[role=status]")

    def button(self, name):
        return self.root.get_by_role("button", name=name, exact=True)

    def press(self, *names):
        for name in names:
            self.button(name).click()

    def expect_status(self, words):
        expect(self.status).to_contain_text(words, timeout=20_000)
