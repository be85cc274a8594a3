"""Patches for a GPU that is not there: how torch, TorchInductor and Triton ask for it.

- ``preview_compat``: all of them
- ``preview_device_compat``: the GPU as programs and torch ask for it
- ``preview_inductor_compat``: TorchInductor
- ``preview_driver_compat``: Triton's driver
"""
