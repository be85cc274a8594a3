"""All uses of private names of torch, TorchInductor and Triton.

- ``torch_compat``: the version of torch, and its files
- ``trace_compat``: listening to the structured trace
- ``dynamo_compat``: Dynamo, the functions that it compiled, and the compilations that it keeps
- ``settings_compat``: torch's configuration
- ``backend_compat``: backends, by name and as objects
- ``graph_compat``: graphs, their operators, sizes and functions
- ``names_compat``: the names of traced code and what they hold
- ``call_compat``: what becomes of a call of a compiled function
- ``gpu_compat``: GPUs, and when torch opens them
- ``fake_compat``: tensors without data
- ``inductor_compat``: how TorchInductor compiles
- ``kernel_compat``: what TorchInductor knows of kernels and code
- ``profiler_compat``: what torch's profiler records of a call
- ``export_compat``: exports, and their records in the structured trace
- ``patches``: patches that say what they replace and why
- ``binaries``: the forms of built kernels, and what they use
"""
