"""Where the files are: the port, its implementation on disk, paths, views and locks."""
