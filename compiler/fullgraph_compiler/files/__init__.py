"""Protection of the user's files: a run sees its own writes, and they are discarded at its end.

- ``protection``: choose and start the protection of a run's files
- ``namespace``: a mount namespace of the process, with its rights and open files
- ``covering``: the overlays over all folders in it
- ``mounts``: the folders to cover, from the mount table
- ``passing``: the paths that are not covered
- ``sockets``: the sockets that are reached through covers
- ``descriptors``: the files that are open before folders are covered
- ``guards``: redirect Python's writes, where there is no namespace
- ``shadow``: the files as the program sees them under ``guards``
- ``landlock``: have the kernel refuse writes
- ``stand_ins``: put functions in the place of others, wherever a program gets them from
- ``unsafe``: the exception that ends a run before it changes a file
"""
