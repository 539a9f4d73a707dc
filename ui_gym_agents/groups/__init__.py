"""Groups: episodes of one start, played beside each other, and what each is worth among them.

What trainers that learn from groups build on; none of it needs torch.
"""
