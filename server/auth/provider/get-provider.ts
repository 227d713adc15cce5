import type { Role } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { PersonContext } from '../person.ts';
import { callbackPath } from './provider.ts';

/** The OpenID provider as admins see it; never its secret. */
export interface ProviderState {
  name: string;
  issuer: string;
  clientId: string;
  isAway: boolean;
  /** Must be registered at the provider, to the letter. */
  redirectUri: string;
  /** Role of people who join by signing in; null if an invitation is required. */
  joinAs: Role | null;
  emailDomains: readonly string[];
  roles: { claim: string; of: readonly { group: string; role: Role }[] } | null;
}

/** The provider's configuration; null without one. */
export async function getProvider({ actor, config, signIn }: PersonContext): Promise<ProviderState | null> {
  allow(actor, 'admin');
  const { openId, url } = config;
  if (openId === null || signIn.provider === null) return null;
  const { name, issuer, clientId, joinAs, emailDomains, roles } = openId;
  // Admins look here when sign-ins fail: a cached answer would hide the cause.
  const isAway = await signIn.provider.isAway(0);
  return { name, issuer, clientId, isAway, redirectUri: url + callbackPath, joinAs, emailDomains, roles };
}
