/** Channel that tells gateways whose credential is no longer valid; the message is the VM's id. */
export const credentialsChannel = 'annex_credentials';
