import { readFile } from 'node:fs/promises';
import * as client from 'openid-client';
import type { Logger } from 'pino';
import type { Config } from '#server/platform/env.ts';
import { ProviderRefusal } from './refusal.ts';

/**
 * The claims about a person, from the ID token and, if it lacks some, from the userinfo endpoint. The token's
 * signature, issuer, audience, times and nonce have been checked.
 */
export interface Claims {
  sub: string;
  name: string | null;
  /** The email address in lower case; null unless the provider has verified it. */
  verifiedEmail: string | null;
  /** Values of the claim that contains the person's groups. */
  groups: readonly string[];
}

/** The URL to redirect the browser to, and the values that the provider's response is checked against. */
export interface Question {
  address: string;
  state: string;
  nonce: string;
  verifier: string;
}

export interface Provider {
  issuer: string;
  name: string;
  /**
   * Whether the provider does not respond. A success is cached for `maxAgeMs` (by default, an hour), a failure for 15
   * seconds.
   */
  isAway(maxAgeMs?: number): Promise<boolean>;
  /**
   * Returns the URL to redirect the browser to, and the values for checking the response. Throws `ProviderAway` if the
   * provider does not respond.
   */
  ask(): Promise<Question>;
  /** Exchanges the code in the response URL for the claims. Throws if a check fails. `now` is the portal's time. */
  read(answer: URL, question: Omit<Question, 'address'>, now: Date): Promise<Claims>;
}

const hour = 3_600_000;
const retryMs = 15_000;
const timeoutSeconds = 4;
/** Tolerated difference in seconds between the clocks of the portal and the provider. */
const toleranceSeconds = 60;

export const callbackPath = '/api/auth/oidc/callback';

type OpenIdConfig = NonNullable<Config['openId']>;

/** Returns the configured provider; null if none is configured. Its metadata is fetched when first needed. */
export function openProvider({ url, openId }: Pick<Config, 'url' | 'openId'>, log: Logger): Provider | null {
  if (openId === null) return null;
  const redirectUri = url + callbackPath;
  const metadata = cachedMetadata(openId, log);
  // Each call gets its own configuration, because a configuration contains the current time. All calls share the
  // provider's keys.
  let keySet: client.ExportedJWKSCache | undefined;

  async function configuration(now: Date): Promise<client.Configuration> {
    const found = await metadata();
    if (found === null) throw new ProviderAway();
    const created = await createConfiguration(openId as OpenIdConfig, found, now);
    if (keySet !== undefined) client.setJwksCache(created, keySet);
    return created;
  }

  return {
    issuer: openId.issuer,
    name: openId.name,
    isAway: async (maxAgeMs) => (await metadata(maxAgeMs)) === null,
    async ask() {
      const verifier = client.randomPKCECodeVerifier();
      const question = { state: client.randomState(), nonce: client.randomNonce(), verifier };
      const address = client.buildAuthorizationUrl(await configuration(new Date()), {
        redirect_uri: redirectUri,
        scope: openId.scopes,
        state: question.state,
        nonce: question.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { ...question, address: address.href };
    },
    async read(answer, question, now) {
      const config = await configuration(now);
      // Uses the redirect URI that is registered with the provider, because a proxy may have rewritten the request's
      // URL.
      const current = new URL(redirectUri);
      current.search = answer.search;
      const claims = await redeemCode(config, current, question, now, openId.roles?.claim);
      keySet = client.getJwksCache(config) ?? keySet;
      return claims;
    },
  };
}

/**
 * Returns a function that fetches the provider's metadata. It caches a success for `maxAgeMs` and a failure for
 * `retryMs`. Concurrent calls share one request.
 */
function cachedMetadata(openId: OpenIdConfig, log: Logger) {
  let known: { at: number; metadata: Promise<client.ServerMetadata | null> } | undefined;
  return async (maxAgeMs = hour): Promise<client.ServerMetadata | null> => {
    const last = known;
    if (last !== undefined) {
      const metadata = await last.metadata;
      if (Date.now() - last.at < (metadata === null ? retryMs : maxAgeMs)) return metadata;
    }
    if (known === last) known = { at: Date.now(), metadata: discover(openId, log) };
    return known?.metadata ?? null;
  };
}

const isPlain = ({ issuer }: OpenIdConfig): boolean => issuer.startsWith('http:');

/** Returns the provider's metadata; null if it cannot be fetched. */
async function discover(openId: OpenIdConfig, log: Logger): Promise<client.ServerMetadata | null> {
  try {
    const found = await client.discovery(new URL(openId.issuer), openId.clientId, undefined, undefined, {
      timeout: timeoutSeconds,
      execute: isPlain(openId) ? [client.allowInsecureRequests] : [],
    });
    return found.serverMetadata();
  } catch (error) {
    log.warn({ err: error, issuer: openId.issuer }, 'the OpenID provider is not responding');
    return null;
  }
}

async function createConfiguration(
  openId: OpenIdConfig,
  metadata: client.ServerMetadata,
  now: Date,
): Promise<client.Configuration> {
  const created = new client.Configuration(
    metadata,
    openId.clientId,
    {
      [client.clockTolerance]: toleranceSeconds,
      [client.clockSkew]: Math.round((now.getTime() - Date.now()) / 1_000),
    },
    await clientAuthentication(openId, metadata),
  );
  created.timeout = timeoutSeconds;
  // Without this call, the library would trust the connection to the token endpoint and not check the ID token's
  // signature.
  client.enableNonRepudiationChecks(created);
  if (isPlain(openId)) client.allowInsecureRequests(created);
  return created;
}

/** Reads the client secret for each call, so that its file can be replaced while the portal is running. */
async function clientAuthentication(
  { clientSecret }: OpenIdConfig,
  { token_endpoint_auth_methods_supported: methods }: client.ServerMetadata,
): Promise<client.ClientAuth> {
  if (clientSecret === null) return client.None();
  const secret = 'value' in clientSecret ? clientSecret.value : (await readFile(clientSecret.file, 'utf8')).trim();
  // If the provider lists no methods, the default in the specification is `client_secret_basic`.
  return methods?.includes('client_secret_post') === true && !methods.includes('client_secret_basic')
    ? client.ClientSecretPost(secret)
    : client.ClientSecretBasic(secret);
}

/** Exchanges the code in a response for the claims about the person who signed in. */
async function redeemCode(
  config: client.Configuration,
  answer: URL,
  { state, nonce, verifier }: Omit<Question, 'address'>,
  now: Date,
  groupClaim: string | undefined,
): Promise<Claims> {
  const tokens = await client.authorizationCodeGrant(config, answer, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const idToken = tokens.claims();
  // The library rejects expired tokens, but not tokens issued in the future.
  const isFromFuture = (idToken?.iat ?? 0) - toleranceSeconds > now.getTime() / 1_000;
  if (idToken === undefined || isFromFuture) throw new ProviderRefusal('failed');
  const isWhole = idToken.email !== undefined && (groupClaim === undefined || groupClaim in idToken);
  const more =
    isWhole || config.serverMetadata().userinfo_endpoint === undefined
      ? ({} as Record<string, unknown>)
      : await client.fetchUserInfo(config, tokens.access_token, idToken.sub);
  // Takes the email address and its verification from the same source, because the two sources may have different
  // addresses.
  const { email, email_verified } = idToken.email === undefined ? more : idToken;
  return claimsOf({ ...more, ...idToken, email, email_verified }, groupClaim);
}

/** Thrown if the provider does not respond. */
export class ProviderAway extends Error {
  override readonly name = 'ProviderAway';
}

function claimsOf(claims: Record<string, unknown>, groupClaim: string | undefined): Claims {
  const text = (value: unknown): string | null =>
    typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
  const groups = groupClaim === undefined ? [] : claims[groupClaim];
  const isVerified = claims.email_verified === true || claims.email_verified === 'true';
  return {
    sub: String(claims.sub),
    name: text(claims.name)?.slice(0, 100) ?? null,
    verifiedEmail: isVerified ? (text(claims.email)?.toLowerCase() ?? null) : null,
    groups: (Array.isArray(groups) ? groups : [groups]).filter((group): group is string => typeof group === 'string'),
  };
}
