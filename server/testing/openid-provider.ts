import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** A person at the provider. */
export interface ProviderPerson {
  name?: string;
  email?: string;
  email_verified?: boolean;
  groups?: string[];
}

export interface OpenIdTestProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** People by login name. Tests may change them while the provider is running. */
  people: Map<string, ProviderPerson>;
  close(): Promise<void>;
}

/**
 * Starts a real OpenID provider on this machine, with one client. People sign in by name on a plain page, without
 * passwords.
 */
export async function startOpenIdProvider(redirectUri: string, port = 0): Promise<OpenIdTestProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const people = new Map<string, ProviderPerson>();
  const clientId = 'annex';
  const clientSecret = randomBytes(24).toString('hex');
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });
  const provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...key, kid: 'test', alg: 'RS256', use: 'sig' }] as never },
    cookies: { keys: [randomBytes(16).toString('hex')] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    conformIdTokenClaims: false,
    ttl: { AccessToken: 300, AuthorizationCode: 60, Grant: 3_600, IdToken: 300, Interaction: 600, Session: 3_600 },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ sub, ...people.get(sub) }) }),
    interactions: { url: (_context, { uid }) => `/login/${uid}` },
    // Skips the page that asks for consent.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/login/')) {
      void answer(request, response);
      return;
    }
    if (request.method === 'GET') {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(`<!doctype html><html lang="en"><title>Provider</title><h1>Sign in at the provider</h1>
        <form method="post"><label>Login <input name="login" autofocus></label><button>Continue</button></form>`);
      return;
    }
    let body = '';
    request.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on('end', () => {
      const accountId = new URLSearchParams(body).get('login') ?? '';
      const result = people.has(accountId)
        ? { login: { accountId } }
        : { error: 'access_denied', error_description: 'nobody of this name' };
      void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    });
  });
  return {
    issuer,
    clientId,
    clientSecret,
    people,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Signs in at the provider as a browser would. Returns the URL to which the provider redirects. */
export async function signInAtProvider(address: string, login: string, redirectUri: string): Promise<string> {
  const cookies = new Map<string, string>();
  let next = address;
  let body: string | undefined;
  for (let step = 0; step < 12; step++) {
    const response: Response = await fetch(next, {
      redirect: 'manual',
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(body === undefined ? {} : { body }),
    });
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    await response.body?.cancel();
    body = location === null ? `login=${encodeURIComponent(login)}` : undefined;
    next = location === null ? next : new URL(location, next).href;
    if (next.startsWith(redirectUri)) return next;
  }
  throw new Error(`The provider did not send the browser back: ${next}`);
}
