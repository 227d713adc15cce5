import { newToken, sha256Hex } from '#server/platform/keys.ts';

/** Creates a forwarder token. */
export const newWireToken = (): string => newToken('wire');

/**
 * Returns the stored form of a forwarder token. The token is valid only for its own VM, and never as the credential of
 * a reference agent, because those credentials contain no spaces.
 */
export const wireTokenHash = (vmId: string, token: string): string => sha256Hex(`wire ${vmId} ${token}`);
