import { z } from 'zod';
import { vmId } from '#server/domain/vms/input.ts';

/** `decommission`: uninstall every extension first. */
export const removeVmInput = z.object({ vmId, decommission: z.boolean().default(false) });
export type RemoveVmInput = z.input<typeof removeVmInput>;
