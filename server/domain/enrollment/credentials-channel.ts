/**
 * Notifies gateways that the credential of a VM's agent was issued, replaced or revoked. The message is the VM's id.
 */
export const credentialsChannel = 'annex_credentials';
