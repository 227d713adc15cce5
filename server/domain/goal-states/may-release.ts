import type { Principal } from '#server/domain/principal.ts';

/** How a VM got another certificate, which decides what may be encrypted for it. */
export type KeyOrigin =
  /** The holder of the previous key requested it: with a signature, or because the portal replaced its tenant key. */
  | { kind: 'renewed' }
  /** A machine enrolled with a token; `sameKey` if its key is the previous one. */
  | { kind: 'issued'; issuer: Principal | null; sameKey: boolean };

/** The facts of a secret that the rule needs. */
export interface SecretFacts {
  /** `Principal.key` of the author; null if unknown or several. */
  setBy: string | null;
  /** Whether it is encrypted for the previous certificate. */
  wasReleased: boolean;
}

/**
 * Whether an existing secret is encrypted for a new certificate without an admin's release (docs/permissions.md). A key
 * passes on only what it has. Otherwise the issuer of the token must have entered the secret, or be an admin
 * now.
 */
export function mayRelease({ setBy, wasReleased }: SecretFacts, origin: KeyOrigin): boolean {
  if (origin.kind === 'renewed') return wasReleased;
  if (origin.sameKey && wasReleased) return true;
  if (origin.issuer === null) return false;
  return origin.issuer.isAdmin || setBy === origin.issuer.key;
}
