import type { Principal } from '#server/domain/principal.ts';

/** How a VM came by another certificate, which decides what may be sealed for it. */
export type KeyOrigin =
  /** The holder of the previous key asked for it: by a signature, or because the portal replaced its tenant key. */
  | { kind: 'renewed' }
  /** A machine came with a token; `sameKey` where its key is the previous one. */
  | { kind: 'issued'; issuer: Principal | null; sameKey: boolean };

/** What the rule knows of a secret. */
export interface SecretFacts {
  /** `Principal.key` of who entered it; null where that is unknown or more than one. */
  setBy: string | null;
  /** Whether it is sealed for the previous certificate. */
  wasReleased: boolean;
}

/**
 * Whether an existing secret is sealed for a new certificate without asking an admin (docs/permissions.md). A key hands
 * on what it has and no more. Else the issuer of the token must have entered the secret, or be an admin now.
 */
export function mayRelease({ setBy, wasReleased }: SecretFacts, origin: KeyOrigin): boolean {
  if (origin.kind === 'renewed') return wasReleased;
  if (origin.sameKey && wasReleased) return true;
  if (origin.issuer === null) return false;
  return origin.issuer.isAdmin || setBy === origin.issuer.key;
}
