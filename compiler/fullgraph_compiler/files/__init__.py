"""Protection of the user's files: a run's writes are discarded when it ends.

Until then the run sees its own writes.

- ``protection``: choose and start the protection of a run's files
- ``namespace``: move the process to a mount namespace; adapt its rights and open files
- ``covering``: mount overlays over all folders in the namespace
- ``mounts``: find the folders to cover, from the mount table
- ``passing``: find the paths that are not covered
- ``sockets``: find the sockets that a program must reach although a cover hides them
- ``descriptors``: reopen the files that were open before folders were covered
- ``guards``: redirect Python's writes if there is no namespace
- ``shadow``: keep the files as the program sees them under ``guards``
- ``libraries``: redirect libraries that open files in native code
- ``landlock``: let the Linux kernel refuse writes
- ``seccomp``: let the Linux kernel ignore or refuse changes of modes, owners, times and attributes
- ``seatbelt``: let the macOS kernel refuse writes
- ``refusals``: end the run before a write that is neither redirected nor refused by a kernel
- ``native``: list the native code that may run if no kernel refuses writes
- ``stand_ins``: replace functions in all modules that contain them
- ``unsafe``: the exception that ends a run before it changes a file
"""
