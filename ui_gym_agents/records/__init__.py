"""Records: every training, evaluation and rollout in a database, to look at, export and replay.

target      which database, from a setting or the environment; passwords are never shown
database    opening one, its schema's version, migrations
models      the tables
rows        what the lines of a run's files mean in the tables
ingest      a run's files into a database, live or later
recorder    a thread that does so while the run goes on
queries     reading
export      JSONL, Parquet and ZIP
archive     such a ZIP: writing it, reading it in, playing it again
cli         `ui-gym-records`
"""
