"""The tasks of MiniWoB++, where the distribution `miniwob` is installed."""

from ui_gym.browser.miniwob import catalogue

catalogue.register()
