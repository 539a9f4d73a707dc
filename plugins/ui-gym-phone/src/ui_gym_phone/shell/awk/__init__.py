"""awk: the language of the one true awk, which Android ships, over the mini shell's streams."""
