import type { Principal } from '#server/domain/principal.ts';

/** How a VM got another certificate. This decides which secrets may be encrypted for the certificate. */
export type KeyOrigin =
  /** The holder of the previous key signed the request, or the portal replaced the tenant key. */
  | { kind: 'renewed' }
  /**
   * A machine enrolled with a token, or an operator created a forwarder token. `issuer` created the token.
   * `sameKey`: whether the new key is the previous key.
   */
  | { kind: 'issued'; issuer: Principal | null; sameKey: boolean };

/** The facts about a secret that `mayRelease` needs. */
export interface SecretFacts {
  /** `Principal.key` of the author; null if the author is unknown. */
  setBy: string | null;
  /** Whether the secret is encrypted for the previous certificate. */
  wasReleased: boolean;
}

/**
 * Whether a secret may be encrypted for a new certificate without an admin's release (docs/permissions.md). A holder of
 * the previous key gets the secrets that this key could read. For an issued certificate, any other secret must have
 * been entered by the issuer of the token, or the issuer must be an admin now.
 */
export function mayRelease({ setBy, wasReleased }: SecretFacts, origin: KeyOrigin): boolean {
  if (origin.kind === 'renewed') return wasReleased;
  if (origin.sameKey && wasReleased) return true;
  if (origin.issuer === null) return false;
  return origin.issuer.isAdmin || setBy === origin.issuer.key;
}
