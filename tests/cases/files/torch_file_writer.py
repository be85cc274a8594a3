"""The writer that `torch.save` uses, called by itself."""

import torch
from torch import nn

model = nn.Linear(4, 4)
compiled = torch.compile(model)
print("output", tuple(compiled(torch.randn(2, 4)).shape))

writer = torch._C.PyTorchFileWriter("m.pt")
writer.write_record("data.pkl", b"weights", 7)
writer.write_end_of_file()
del writer
reader = torch._C.PyTorchFileReader("m.pt")
assert reader.get_record("data.pkl") == b"weights"
print("end torch_file_writer")
