/**
 * The channel of wake-ups about units: `r<relation>` after a relation moved, `v<vm>` after the revision of a VM's units
 * changed.
 */
export const unitsChannel = 'annex_units';
