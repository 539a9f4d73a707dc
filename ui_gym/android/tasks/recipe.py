"""The demo tasks of the CUA-RL recipe, under its ids."""

from ui_gym.android import recipe

recipe.register()
