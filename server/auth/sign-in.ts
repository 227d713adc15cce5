import { drizzleAdapter } from 'better-auth/adapters/drizzle';
import { betterAuth } from 'better-auth/minimal';
import type { Logger } from 'pino';
import { accounts, sessions, users, verifications } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { trustedOrigins } from './origin.ts';
import { passwordLength } from './passwords.ts';

/** Longest life of a session, seconds: 30 days, however much it is used. */
export const sessionLife = 30 * 24 * 60 * 60;

/** Carries the address that the door found to the sign-in library; taken from nobody else. */
export const addressHeader = 'x-annex-address';

/** Name of the cookie with the session; browsers keep a `__Secure-` one to https. */
export function sessionCookie(url: string): string {
  return `${url.startsWith('https:') ? '__Secure-' : ''}annex.session_token`;
}

/**
 * The sign-in library, for what it does well: passwords (scrypt, equal time for unknown people), sessions, cookies.
 * Its own HTTP router is not mounted (handler.ts calls it in-process), so nothing of it is reachable by accident.
 */
export function openSignIn({ db, config, keys }: Services, log: Logger) {
  return betterAuth({
    appName: 'Annex',
    baseURL: config.url,
    basePath: '/api/auth',
    secret: keys.session.toString('base64url'),
    trustedOrigins: [...trustedOrigins(config)],
    database: drizzleAdapter(db, {
      provider: 'pg',
      schema: { user: users, session: sessions, account: accounts, verification: verifications },
    }),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLength.minimum,
      maxPasswordLength: passwordLength.maximum,
    },
    // Idle sessions are ended by session.ts, which also keeps track of use.
    session: { expiresIn: sessionLife, disableSessionRefresh: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: {
      level: 'warn',
      log: (level, message) => log[level === 'error' ? 'error' : 'debug']({ library: 'better-auth' }, message),
    },
    advanced: {
      cookiePrefix: 'annex',
      useSecureCookies: config.url.startsWith('https:'),
      disableOriginCheck: false,
      ipAddress: { ipAddressHeaders: [addressHeader] },
    },
  });
}

export type SignIn = ReturnType<typeof openSignIn>;
