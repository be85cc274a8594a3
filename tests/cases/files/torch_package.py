"""A package of torch is written over another one."""

import torch
from torch import nn
from torch.package import PackageExporter, PackageImporter

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

with PackageExporter("package.pt") as exporter:
    exporter.extern("**")
    exporter.save_pickle("model", "settings.pkl", {"step": 7})
    exporter.save_text("model", "notes.txt", "new")
importer = PackageImporter("package.pt")
assert importer.load_pickle("model", "settings.pkl") == {"step": 7}
assert importer.load_text("model", "notes.txt") == "new"
print("end torch_package")
