"""``fullgraph/devices``: the GPUs for which kernels can be previewed."""

from __future__ import annotations

from fullgraph_compiler import facts

from ..features.context import ServerContext
from ..protocol.names import DEVICES
from ..protocol.runs import DeviceItem
from ..text.devices import device_words


def register(context: ServerContext) -> None:
    """Register the handler of ``fullgraph/devices``."""

    @context.server.feature(DEVICES)
    async def devices(_params: None) -> list[DeviceItem]:
        return [DeviceItem(name, device.name, device_words(device)) for name, device in facts.DEVICES.items()]
