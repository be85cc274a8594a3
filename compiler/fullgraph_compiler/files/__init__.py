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
- ``libraries``: redirect libraries that open files in native code
- ``landlock``: have the kernel of Linux refuse writes
- ``seccomp``: have it refuse changes of modes, owners, times and attributes
- ``seatbelt``: have the kernel of macOS refuse writes
- ``refusals``: end the run before a write that is not redirected, where no kernel refuses it
- ``native``: the native code that may run there
- ``stand_ins``: put functions in the place of others, wherever a program gets them from
- ``unsafe``: the exception that ends a run before it changes a file
"""
