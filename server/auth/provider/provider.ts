import { readFile } from 'node:fs/promises';
import * as client from 'openid-client';
import type { Logger } from 'pino';
import type { Config } from '#server/platform/env.ts';
import { ProviderRefusal } from './refusal.ts';

/** What the provider said of who signed in there, checked: signature, issuer, audience, times, nonce. */
export interface Claims {
  sub: string;
  name: string | null;
  /** Lower case; null unless the provider says that it verified it. */
  verifiedEmail: string | null;
  /** Of the claim that stands for roles. */
  groups: readonly string[];
}

/** What must be remembered of a question to the provider until its answer. */
export interface Question {
  address: string;
  state: string;
  nonce: string;
  verifier: string;
}

export interface Provider {
  issuer: string;
  name: string;
  /** Whether it answers; asked again after an hour or `maxAgeMs`, and 15 seconds after it did not. */
  isAway(maxAgeMs?: number): Promise<boolean>;
  /** Where to send the browser. Throws where the provider does not answer. */
  ask(): Promise<Question>;
  /** Exchanges the code in the answer's address. Throws where anything does not fit; `now` is the portal's clock. */
  read(answer: URL, question: Omit<Question, 'address'>, now: Date): Promise<Claims>;
}

const hour = 3_600_000;
const retryMs = 15_000;
const timeoutSeconds = 4;
/** How far the clocks of portal and provider may be apart. */
const toleranceSeconds = 60;

export const callbackPath = '/api/auth/oidc/callback';

/** The provider of the configuration; its own description is fetched when it is first needed. */
export function openProvider(config: Pick<Config, 'url' | 'openId'>, log: Logger): Provider | null {
  const { openId } = config;
  if (openId === null) return null;
  const redirectUri = config.url + callbackPath;
  const isPlain = openId.issuer.startsWith('http:');
  // Each call has a configuration of its own, because the clock differs; the provider's keys are shared.
  let keySet: client.ExportedJWKSCache | undefined;
  let known: { at: number; metadata: Promise<client.ServerMetadata | null> } | undefined;

  /** Null where the provider does not answer. */
  async function describedBy(maxAgeMs = hour): Promise<client.ServerMetadata | null> {
    const last = known;
    if (last !== undefined) {
      const metadata = await last.metadata;
      if (Date.now() - last.at < (metadata === null ? retryMs : maxAgeMs)) return metadata;
    }
    // Of several at once one asks.
    if (known === last) known = { at: Date.now(), metadata: discover() };
    return known?.metadata ?? null;
  }

  async function discover(): Promise<client.ServerMetadata | null> {
    try {
      const found = await client.discovery(
        new URL(openId?.issuer ?? ''),
        openId?.clientId ?? '',
        undefined,
        undefined,
        {
          timeout: timeoutSeconds,
          execute: isPlain ? [client.allowInsecureRequests] : [],
        },
      );
      return found.serverMetadata();
    } catch (error) {
      log.warn({ err: error, issuer: openId?.issuer }, 'the OpenID provider does not answer');
      return null;
    }
  }

  async function configuration(now: Date): Promise<client.Configuration> {
    const metadata = await describedBy();
    if (metadata === null || openId === null) throw new ProviderAway();
    const made = new client.Configuration(
      metadata,
      openId.clientId,
      {
        [client.clockTolerance]: toleranceSeconds,
        [client.clockSkew]: Math.round((now.getTime() - Date.now()) / 1_000),
      },
      await authentication(metadata),
    );
    made.timeout = timeoutSeconds;
    // Otherwise the library trusts the connection to the token endpoint and leaves the signature unread.
    client.enableNonRepudiationChecks(made);
    if (keySet !== undefined) client.setJwksCache(made, keySet);
    if (isPlain) client.allowInsecureRequests(made);
    return made;
  }

  /** The secret is read anew each time, so that a file can be replaced while the portal runs. */
  async function authentication({ token_endpoint_auth_methods_supported: methods }: client.ServerMetadata) {
    const kept = openId?.clientSecret ?? null;
    if (kept === null) return client.None();
    const secret = 'value' in kept ? kept.value : (await readFile(kept.file, 'utf8')).trim();
    // Without a list it is the header, by the specification.
    return methods?.includes('client_secret_post') === true && !methods.includes('client_secret_basic')
      ? client.ClientSecretPost(secret)
      : client.ClientSecretBasic(secret);
  }

  return {
    issuer: openId.issuer,
    name: openId.name,
    isAway: async (maxAgeMs) => (await describedBy(maxAgeMs)) === null,
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
    async read(answer, { state, nonce, verifier }, now) {
      const asked = await configuration(now);
      // As the provider was told, whatever a proxy made of the address on its way in.
      const current = new URL(redirectUri);
      current.search = answer.search;
      const tokens = await client.authorizationCodeGrant(asked, current, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      keySet = client.getJwksCache(asked) ?? keySet;
      const idToken = tokens.claims();
      // The library checks when a token ends, not that it is from the future.
      const isFromFuture = (idToken?.iat ?? 0) - toleranceSeconds > now.getTime() / 1_000;
      if (idToken === undefined || isFromFuture) throw new ProviderRefusal('failed');
      const isWhole = idToken.email !== undefined && (openId.roles === null || openId.roles.claim in idToken);
      const more =
        isWhole || asked.serverMetadata().userinfo_endpoint === undefined
          ? ({} as Record<string, unknown>)
          : await client.fetchUserInfo(asked, tokens.access_token, idToken.sub);
      // An address and the word that it is verified come from one document: the two may name different addresses.
      const { email, email_verified } = idToken.email === undefined ? more : idToken;
      return claimsOf({ ...more, ...idToken, email, email_verified }, openId.roles?.claim);
    },
  };
}

/** The provider does not answer. */
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
