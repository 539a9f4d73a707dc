"""The steps of the schema, oldest first. A released one is never changed."""
