"""All uses of private names of torch, TorchInductor and Triton.

- ``torch_compat``: the version of torch, and its files
- ``trace_compat``: listening to the structured trace
- ``dynamo_compat``: Dynamo, the functions that it compiled, and its cache of compilations
- ``settings_compat``: torch's configuration
- ``backend_compat``: backends, by name and as objects
- ``graph_compat``: graphs, their operators, sizes and functions
- ``names_compat``: names in traced code, and the values bound to them
- ``call_compat``: whether a call of a compiled function compiles or runs eagerly
- ``gpu_compat``: GPUs, and when torch initializes them
- ``fake_compat``: tensors without data
- ``inductor_compat``: control over how TorchInductor compiles
- ``kernel_compat``: TorchInductor's data about kernels and generated code
- ``profiler_compat``: recording of calls with torch's profiler
- ``export_compat``: exports, and their records in the structured trace
- ``patches``: patches, each with what it replaces and why
- ``binaries``: the intermediate forms, machine code and resource usage of built kernels
"""
