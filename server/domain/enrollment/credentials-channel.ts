/** Channel for the ids of VMs whose agent credential was issued, replaced or revoked. The gateways listen to it. */
export const credentialsChannel = 'annex_credentials';

/**
 * Channel for changes to units: `v<vm>` if the units of a VM changed, and `r<relation>` if a relation did. The gateways
 * listen to it.
 */
export const unitsChannel = 'annex_units';
