import { l10n, type Memento, type QuickPickItem, window } from "vscode";
import { runTarget } from "./analyze";
import { type Named, targetOf } from "./failures";
import { openKernels } from "./kernels";
import { type DeviceItem, DEVICES } from "../protocol";
import type { Server } from "../server/server";

const KEY = "previewDevice";

interface DevicePick extends QuickPickItem {
  device: string;
}

/** Run a target without data, once: later automatic runs are normal ones. */
export async function dryRun(server: Server, named: Named): Promise<void> {
  const target = targetOf(named);
  if (target !== undefined) {
    await runTarget(server, target, { dryRun: true });
  }
}

/** Generate the kernels of a target for a GPU that this machine need not have, and let the user open one. */
export async function previewKernels(server: Server, memory: Memento, named: Named): Promise<void> {
  if (targetOf(named) === undefined || !(await server.available())) {
    return;
  }
  const picks = server
    .request<DeviceItem[]>(DEVICES, {})
    .then((devices = []) => devicePicks(devices, memory.get<string>(KEY)));
  const picked = await window.showQuickPick<DevicePick>(picks, {
    title: l10n.t("Fullgraph: Preview Kernels for…"),
    placeHolder: l10n.t("The GPU to generate kernels for; this machine need not have it"),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (picked !== undefined) {
    await memory.update(KEY, picked.device);
    await openKernels(server, named, { device: picked.device });
  }
}

/** The GPUs as a list, the one of the last preview first. */
export function devicePicks(
  devices: readonly DeviceItem[],
  last: string | undefined,
): DevicePick[] {
  return devices
    .toSorted((one, other) => Number(other.name === last) - Number(one.name === last))
    .map(({ name, gpu, description }) => ({
      label: gpu,
      description: name,
      detail: description,
      device: name,
    }));
}
