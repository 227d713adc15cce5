import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { anonymous } from '#server/domain/actor.ts';
import type { Services } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { problemResponse } from '#server/i18n/index.ts';
import { requireOwnMutation } from './origin.ts';
import type { AuthCall, AuthRoute } from './routes/call.ts';
import { askPasskey, signInWithPasskey } from './routes/passkey.ts';
import { putPassword, signInWithPassword } from './routes/password.ts';
import { askProvider, hearProvider } from './routes/provider.ts';
import { askPasskeyAsFactor, signInWithFactor } from './routes/second-factor.ts';
import { getSession, signOut } from './routes/session.ts';
import { readSession, type Session } from './session.ts';
import type { SignIn } from './sign-in.ts';

const routes: Readonly<Record<string, { method: 'GET' | 'POST'; run: AuthRoute }>> = {
  '/api/auth/sign-in/email': { method: 'POST', run: signInWithPassword },
  '/api/auth/sign-in/factor': { method: 'POST', run: signInWithFactor },
  '/api/auth/sign-in/factor/passkey': { method: 'POST', run: askPasskeyAsFactor },
  '/api/auth/sign-in/passkey': { method: 'POST', run: signInWithPasskey },
  '/api/auth/sign-in/passkey/options': { method: 'POST', run: askPasskey },
  '/api/auth/oidc/start': { method: 'POST', run: askProvider },
  '/api/auth/oidc/callback': { method: 'GET', run: hearProvider },
  '/api/auth/sign-out': { method: 'POST', run: signOut },
  '/api/auth/get-session': { method: 'GET', run: getSession },
  '/api/auth/change-password': { method: 'POST', run: putPassword },
};

/**
 * Handles `/api/auth/…`, for signing in and out, and for changing the password. Accepts POSTs only from the portal's
 * own pages. Failed attempts are limited (throttle.ts).
 */
export function createAuthHandler(
  services: Services,
  signIn: SignIn,
  log: Logger,
): (request: Request, address?: string, now?: Date) => Promise<Response> {
  return async (request, address = 'unknown', now = new Date()) => {
    const requestId = randomUUID();
    const { headers } = request;
    const origin = { door: 'page' as const, address, client: headers.get('user-agent') };
    let session: Promise<Session | null> | undefined;
    try {
      const route = routes[new URL(request.url).pathname];
      if (!route) throw new DomainError('not_found', 'not_found');
      if (route.method !== request.method) {
        throw new DomainError('method_not_allowed', 'method_not_allowed', { params: { methods: route.method } });
      }
      if (request.method !== 'GET') requireOwnMutation(request.headers, services.config);
      const call: AuthCall = {
        ...services,
        actor: anonymous,
        origin,
        now,
        requestId,
        log,
        request,
        headers,
        address,
        signIn,
        session() {
          session ??= readSession(services, headers, now);
          return session;
        },
      };
      const response = await route.run(call);
      response.headers.set('cache-control', 'no-store');
      return response;
    } catch (error) {
      await signIn.attempts.note(error, { ...services, now, origin, requestId });
      const person = await session?.catch(() => null);
      return problemResponse(error, request, requestId, log, person?.actor.language);
    }
  };
}
