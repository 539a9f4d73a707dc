"""Which episodes are played: sources, mixes, filters, curricula."""
