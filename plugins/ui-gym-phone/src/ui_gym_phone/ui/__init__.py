"""How the built-in phone looks and feels: widgets, layout, painting, input."""
