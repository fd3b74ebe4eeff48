"""A JupyterHub for one class: one environment, one model, a home for each learner.

Run it in the environment of requirements.txt, with `pip install jupyterhub` and, for
the proxy, `npm install -g configurable-http-proxy`:

    HUB_PASSWORD=… HUB_HOMES=homes \\
        jupyterhub -f data/pages/classroom/jupyterhub_config.py

It was tried as it is, on one machine and with ten users. One password for all and
the `simple` spawner (everybody is one user of the system, and can read all homes) are
for such a trial and for people who trust each other. For others put your own
authenticator and a spawner of containers or of system users in their place; the rest
stays.
"""

import os
import shutil
import sys
from pathlib import Path

from workbook.paths import ROOT, user_cache

HOMES = Path(os.environ.get("HUB_HOMES", "homes")).absolute()
PORT = int(os.environ.get("HUB_PORT", "8000"))
MODEL_PORT = int(os.environ.get("HUB_MODEL_PORT", "8765"))

c = get_config()  # noqa: F821 - JupyterHub gives it
c.JupyterHub.bind_url = f"http://127.0.0.1:{PORT}"
c.JupyterHub.authenticator_class = "shared-password"
c.SharedPasswordAuthenticator.user_password = os.environ["HUB_PASSWORD"]
c.Authenticator.allow_all = True
c.Authenticator.username_pattern = "[a-z0-9][a-z0-9_-]*"  # each name is a folder's
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = str(HOMES / "{username}")


def own_copy(spawner):
    """Put lessons and pictures into a learner's home; what is there already stays."""
    lessons = (ROOT / "notebooks").rglob("[0-9]*.ipynb")  # labs, too
    for shipped in [*lessons, *(ROOT / "data" / "pictures").iterdir()]:
        own = HOMES / spawner.user.name / shipped.relative_to(ROOT)
        own.parent.mkdir(parents=True, exist_ok=True)
        if not own.exists():
            shutil.copyfile(shipped, own)


c.Spawner.pre_spawn_hook = own_copy
c.Spawner.default_url = "/lab/tree/notebooks/00_start_here.ipynb"
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]  # also outside PATH
c.Spawner.args = ["--allow-root"]  # matters in a container only
c.Spawner.http_timeout = c.Spawner.start_timeout = 120  # all of a class begin at once
# Progress and agent are kept in the home, since HOME is the learner's own.
c.Spawner.environment = {
    "WORKBOOK_LOCAL_SERVER": f"http://127.0.0.1:{MODEL_PORT}",
    "WORKBOOK_SHARED": "1",  # no process is started before a check needs it
}

# The hub starts the model and starts it again when it ends.
SERVE = f"""
from threading import Event
from workbook.runtime.local import LocalServer
from workbook.weights import fetch_weights
server = LocalServer(str(fetch_weights()), {MODEL_PORT})
Event().wait()
"""
model = [sys.executable, "-c", SERVE]
cache = {"WORKBOOK_CACHE": str(user_cache())}
c.JupyterHub.services = [{"name": "model", "command": model, "environment": cache}]
