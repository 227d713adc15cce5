import { z } from 'zod';

/** Sort orders, each with an index; `-` reverses the order. `since`: how long a VM has had its health. */
export const fleetSorts = ['name', '-name', 'health', '-health', 'since', '-since'] as const;
export type FleetSort = (typeof fleetSorts)[number];

/** Sort order of a list of VMs. */
export const fleetSort = z.enum(fleetSorts);
