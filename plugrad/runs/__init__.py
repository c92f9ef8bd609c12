"""Folders of results as a page: what `plugrad watch` and `plugrad report` show.

    files.py     which files of a folder may be read
    texts.py     JSON and JSON lines, also damaged ones
    curves.py    the log as series of values, thinned
    graphs.py    a dumped graph, placed for drawing
    records.py   what a run was made with
    reader.py    all of it, as data for the page
    page.py      the page as one file
    server.py    the page and its data on the loopback

Nothing that is read is trusted: files are opened within the folder only, data come to the page as
JSON, and its script puts them there as text.
"""
