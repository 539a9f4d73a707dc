"""MiniWoB++ on our device: the pages, seeds and rewards of the distribution `miniwob`."""
