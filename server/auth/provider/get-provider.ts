import type { Role } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { PersonContext } from '../person.ts';
import { callbackPath } from './provider.ts';

/** The OpenID provider as admins see it, without its secret. */
export interface ProviderState {
  name: string;
  issuer: string;
  clientId: string;
  isAway: boolean;
  /** The exact redirect URI to register with the provider. */
  redirectUri: string;
  /** Role of people who join by signing in and get no role from a group; null if such people need an invitation. */
  joinAs: Role | null;
  emailDomains: readonly string[];
  roles: { claim: string; of: readonly { group: string; role: Role }[] } | null;
}

/** Returns the provider's configuration; null if none is configured. */
export async function getProvider({ actor, config, signIn }: PersonContext): Promise<ProviderState | null> {
  allow(actor, 'admin');
  const { openId, url } = config;
  if (openId === null || signIn.provider === null) return null;
  const { name, issuer, clientId, joinAs, emailDomains, roles } = openId;
  // Ignores a cached success, because admins look here when sign-ins fail.
  const isAway = await signIn.provider.isAway(0);
  return { name, issuer, clientId, isAway, redirectUri: url + callbackPath, joinAs, emailDomains, roles };
}
