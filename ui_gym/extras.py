"""Which extra of ui-gym brings a module, for the sentence that says what to install."""

from __future__ import annotations

EXTRAS = {
    "browser": ("cv2", "orjson"),
    "desktop": ("docx", "jeepney", "openpyxl", "xcffib"),
    "osworld": ("lxml", "pptx", "pypdf", "rapidfuzz"),
    "agents": (
        "accelerate", "alembic", "httpx", "jinja2", "matplotlib", "peft", "safetensors",
        "sqlalchemy", "tokenizers", "torch", "transformers",
    ),
    "miniwob": ("miniwob",),
    "parquet": ("pyarrow",),
    "postgres": ("psycopg",),
    "sb3": ("stable_baselines3",),
    "selenium": ("selenium", "urllib3"),
    "tensorboard": ("tensorboard",),
    "trackio": ("trackio",),
    "wandb": ("wandb",),
}  # fmt: skip
"""The modules that each extra brings beside those of the extras that it includes."""


def remedy(error: ModuleNotFoundError) -> str | None:
    """What is not installed and how to get it, in a sentence; None for a module of somebody else.

    The last is a bug, or a distribution that is broken: its traceback says more.
    """
    name = (error.name or "").partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if name in modules), None)
    if extra is None:
        return None
    return f"{name} is not installed; to get it: pip install 'ui-gym[{extra}]'"
