import { newToken, sha256Hex } from '#server/platform/keys.ts';

/** Creates a forwarder token. */
export const newWireToken = (): string => newToken('wire');

/**
 * Returns the stored form of a forwarder token. It is valid only for its own VM, and never as the credential of a
 * reference agent, because no `Authorization` header has this form.
 */
export const wireTokenHash = (vmId: string, token: string): string => sha256Hex(`wire ${vmId} ${token}`);
