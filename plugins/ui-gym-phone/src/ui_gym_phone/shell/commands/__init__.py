"""The commands, one module a family; the registry imports all modules that are here."""
