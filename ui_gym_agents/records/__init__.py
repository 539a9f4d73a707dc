"""Records: every training, evaluation and rollout in a database, to look at, export and replay.

target      which database, from a setting or the environment; passwords are never shown
database    opening one, its schema's version, migrations
models      the tables
changes     what is written, as plain data: applied in order, any number of times, with one result
rows        what happens in a run, as changes
spool       changes on disk while the database is away
writer      a thread that writes changes, or spools them
recorder    the run listener that ties these together
queries     reading
export      JSONL, Parquet and ZIP; import
rebuild     a database anew from run directories
cli         `ui-gym-records`
"""
