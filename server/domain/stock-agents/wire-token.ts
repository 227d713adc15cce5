import { newToken, sha256Hex } from '#server/platform/keys.ts';

/** The token of a VM's forwarder. */
export const newWireToken = (): string => newToken('wire');

/**
 * The form in which a forwarder's token is stored and found. It holds for its own VM alone, and as the credential of a
 * reference agent it does not: no `Authorization` header gives the same.
 */
export const wireTokenHash = (vmId: string, token: string): string => sha256Hex(`wire ${vmId} ${token}`);
