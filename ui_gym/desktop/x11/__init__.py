"""The X11 device: real applications on an X server without a screen, in a sandbox of their own."""
