import type { inferRouterOutputs } from '@trpc/server';
import type { AttentionGroup } from '#server/domain/views/index.ts';
import type { AppRouter } from '#server/trpc/root.ts';

export type AttentionVm = inferRouterOutputs<AppRouter>['attention']['vms']['items'][number];

/** A VM whose details are open, and the problem under which the VM is listed. */
export interface OpenVm {
  key: string;
  vmId: string;
  name: string;
}

/** Number of a problem's VMs that are loaded per page. */
export const vmsAtOnce = 50;

/**
 * Returns the VM's extension that the problem is about. If the problem is about a whole handler, returns the handler's
 * least healthy extension.
 */
export function extensionOf(group: AttentionGroup, vm: AttentionVm): AttentionVm['extensions'][number] | undefined {
  if (group.extension === null) return undefined;
  const { handler, name } = group.extension;
  return vm.extensions.find((extension) => extension.handler === handler && (name === null || extension.name === name));
}
