# SPDX-License-Identifier: Apache-2.0
"""The package's build backend (PEP 517, 660): files into a zip of their own, without any requirement.

The version is that of hpct's CMakeLists.txt, which an installed copy of this folder does not have: there it is the
word of the file VERSION beside this one.
"""
import base64
import hashlib
import io
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
TAG = "py3-none-any"


def version():
    """That of the project."""
    own = os.path.join(HERE, "VERSION")
    if os.path.exists(own):
        with open(own, encoding="utf8") as file:
            return file.read().strip()
    with open(os.path.join(HERE, "../../CMakeLists.txt"), encoding="utf8") as file:
        return re.search(r"project\(hpct VERSION ([0-9.]+)", file.read()).group(1)


def metadata():
    """METADATA, as the core metadata 2.1 has it."""
    return (f"Metadata-Version: 2.1\nName: hpct\nVersion: {version()}\nSummary: Questions to runs that hpct recorded\n"
            "License: Apache-2.0\nRequires-Python: >=3.8\nProvides-Extra: numpy\nProvides-Extra: pandas\n")


def wheel_words():
    return f"Wheel-Version: 1.0\nGenerator: hpct_build\nRoot-Is-Purelib: true\nTag: {TAG}\n"


def sources():
    """Names and places of the package's files."""
    folder = os.path.join(HERE, "hpct")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") or name == "py.typed":
            yield "hpct/" + name, os.path.join(folder, name)


class Wheel:
    """A wheel that is being written; the same files give the same bytes."""

    def __init__(self, directory):
        self.name = f"hpct-{version()}-{TAG}.whl"
        self.info = f"hpct-{version()}.dist-info"
        self.zip = zipfile.ZipFile(os.path.join(directory, self.name), "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def put(self, name, data):
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.external_attr = 0o100644 << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(data)}\n")

    def close(self):
        self.put(self.info + "/METADATA", metadata().encode())
        self.put(self.info + "/WHEEL", wheel_words().encode())
        name = self.info + "/RECORD"
        self.put(name, ("".join(self.record) + f"{name},,\n").encode())
        self.zip.close()
        return self.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    wheel = Wheel(wheel_directory)
    for name, place in sources():
        with open(place, "rb") as file:
            wheel.put(name, file.read())
    return wheel.close()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    wheel = Wheel(wheel_directory)
    wheel.put("hpct.pth", (HERE + "\n").encode())
    return wheel.close()


def build_sdist(sdist_directory, config_settings=None):
    name = f"hpct-{version()}"
    with tarfile.open(os.path.join(sdist_directory, name + ".tar.gz"), "w:gz") as archive:
        for file in ("pyproject.toml", "hpct_build.py"):
            archive.add(os.path.join(HERE, file), f"{name}/{file}")
        for file, place in sources():
            archive.add(place, f"{name}/{file}")
        for file, text in (("PKG-INFO", metadata()), ("VERSION", version() + "\n")):
            place = tarfile.TarInfo(f"{name}/{file}")
            place.size = len(text.encode())
            archive.addfile(place, io.BytesIO(text.encode()))
    return name + ".tar.gz"


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_editable = get_requires_for_build_sdist = get_requires_for_build_wheel
