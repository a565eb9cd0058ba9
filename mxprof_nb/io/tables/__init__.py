"""Tables of events: CSV, Parquet and DataFrames, of ours and of strangers."""
