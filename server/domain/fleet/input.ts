import { z } from 'zod';

/** Orders that have an index; `-` reverses. `since`: how long a VM has had its health. */
export const fleetSorts = ['name', '-name', 'health', '-health', 'since', '-since'] as const;
export type FleetSort = (typeof fleetSorts)[number];

/** The order of a list of VMs. */
export const fleetSort = z.enum(fleetSorts);
