"""Patches that make torch, TorchInductor and Triton compile for an absent GPU.

- ``preview_compat``: apply all patches
- ``preview_device_compat``: patches of the GPU queries of programs and torch
- ``preview_inductor_compat``: patches of TorchInductor
- ``preview_driver_compat``: patches of Triton's driver
"""
