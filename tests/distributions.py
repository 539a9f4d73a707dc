"""Distributions of third parties, as pip leaves them in a folder of `sys.path`."""

from __future__ import annotations

from pathlib import Path


def install(folder: Path, name: str, version: str, entry_points: str, **modules: str) -> None:
    """Put a distribution into `folder`: its metadata, and its modules by their names."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(entry_points)
    for module, source in modules.items():
        (folder / f"{module}.py").write_text(source)
