import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedToken {
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
  /**
   * What signs the token: the provider's key, another key with the provider's key id, the client's secret, or nothing.
   */
  signer?: 'provider' | 'stranger' | 'secret' | 'none';
  /** Claims that are changed after signing. */
  altered?: Record<string, unknown>;
}

export interface ScriptedProvider {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Defines the next ID token. Claims that are not given are valid. */
  token: ScriptedToken;
  userInfo: Record<string, unknown>;
  /** Returns the URL to which the provider would redirect the browser from this authorization URL. */
  answerTo(address: string): string;
  close(): Promise<void>;
}

/** Starts an OpenID provider whose ID tokens are defined by the test, so that they can be invalid. */
export async function startScriptedProvider(redirectUri: string): Promise<ScriptedProvider> {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  let nonce = '';
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const provider: ScriptedProvider = {
    issuer,
    clientId: 'annex',
    clientSecret: 'a secret between both',
    token: {},
    userInfo: { sub: 'ada' },
    answerTo(address) {
      const asked = new URL(address).searchParams;
      nonce = asked.get('nonce') ?? '';
      return `${redirectUri}?${new URLSearchParams({ code: 'a-code', state: asked.get('state') ?? '', iss: issuer })}`;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  function idToken(): string {
    const { header, claims, signer = 'provider', altered } = provider.token;
    const now = Math.floor(Date.now() / 1_000);
    const alg = { provider: 'RS256', stranger: 'RS256', secret: 'HS256', none: 'none' }[signer];
    const usual = { iss: issuer, aud: provider.clientId, sub: 'ada', nonce, iat: now, exp: now + 300 };
    const signed = { ...usual, email: 'ada@example.org', email_verified: true, groups: [], ...claims };
    const head = encode({ alg, kid: 'key-1', typ: 'JWT', ...header });
    const input = `${head}.${encode(signed)}`;
    const signatures = {
      provider: () => sign('sha256', Buffer.from(input), keys.privateKey),
      stranger: () => sign('sha256', Buffer.from(input), stranger.privateKey),
      secret: () => createHmac('sha256', provider.clientSecret).update(input).digest(),
      none: () => Buffer.alloc(0),
    };
    return `${head}.${encode({ ...signed, ...altered })}.${signatures[signer]().toString('base64url')}`;
  }

  const answers: Record<string, () => unknown> = {
    '/.well-known/openid-configuration': () => ({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      // Lists more algorithms than the portal accepts, as large providers do.
      id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
      authorization_response_iss_parameter_supported: true,
    }),
    '/keys': () => ({
      keys: [{ ...keys.publicKey.export({ format: 'jwk' }), kid: 'key-1', alg: 'RS256', use: 'sig' }],
    }),
    '/token': () => ({ access_token: 'an-access-token', token_type: 'Bearer', expires_in: 300, id_token: idToken() }),
    '/userinfo': () => provider.userInfo,
  };
  server.on('request', (request, response) => {
    const answer = answers[new URL(request.url ?? '/', issuer).pathname];
    response.statusCode = answer === undefined ? 404 : 200;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer?.() ?? {}));
  });
  return provider;
}
