/** Notifies gateways that a credential is no longer valid. The message is the VM's id. */
export const credentialsChannel = 'annex_credentials';
