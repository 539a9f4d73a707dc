"""What the files of desktop tasks hold, drawn by a seed."""
