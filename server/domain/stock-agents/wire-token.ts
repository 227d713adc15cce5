import { newToken, sha256Hex } from '#server/platform/keys.ts';

/** The token of a VM's forwarder. */
export const newWireToken = (): string => newToken('wire');

/**
 * The stored form of a forwarder's token. It is valid for its own VM only, and never as the credential of a reference
 * agent: no `Authorization` header has this form.
 */
export const wireTokenHash = (vmId: string, token: string): string => sha256Hex(`wire ${vmId} ${token}`);
