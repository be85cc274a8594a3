"""Every private name of torch, TorchInductor and Triton that Fullgraph touches, and what stands in for it.

- ``torch_compat``: Dynamo, the structured trace, versions, and all that has no module of its own
- ``names_compat``: the names of traced code and what they hold
- ``cache_compat``: the compilations that Dynamo keeps of a frame
- ``call_compat``: what becomes of a call of a compiled function
- ``fake_compat``: tensors without data
- ``inductor_compat``: how TorchInductor compiles
- ``kernel_compat``: what TorchInductor knows of kernels and code
- ``preview_compat``: patches for a GPU that is not there
- ``binaries``: the forms of built kernels, and what they use
- ``stand_ins``: put functions in the place of others, wherever a program gets them from
"""
