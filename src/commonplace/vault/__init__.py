"""Where the files are: the port, its implementation on disk, its twin in memory, paths, views and locks."""
