"""Process management in a worker: forked children, data from Linux's ``/proc``, detection of GPUs."""
