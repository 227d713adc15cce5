/** Channel for the ids of VMs whose agent credential was issued, replaced or revoked. The gateways listen to it. */
export const credentialsChannel = 'annex_credentials';
