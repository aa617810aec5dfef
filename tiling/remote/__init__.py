"""Images that lie elsewhere, of which the ranges that are needed are fetched, kept and read as if they were here."""
