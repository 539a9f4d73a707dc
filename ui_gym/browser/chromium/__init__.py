"""Chromium as a device: its process, the DevTools protocol over a pipe, one page, its pictures."""
