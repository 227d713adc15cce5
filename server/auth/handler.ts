import { randomUUID } from 'node:crypto';
import { APIError } from 'better-auth/api';
import type { Logger } from 'pino';
import { z } from 'zod';
import { allow, anonymous } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { problemResponse } from '#server/i18n/index.ts';
import { household } from '#server/platform/household.ts';
import { readJsonBody } from './body.ts';
import { me } from './members/me.ts';
import { requireOwnMutation } from './origin.ts';
import { password } from './passwords.ts';
import { endSession, readSession } from './session.ts';
import { addressHeader, type SignIn } from './sign-in.ts';
import { createThrottle, type Throttle } from './throttle.ts';

const minute = 60_000;

const signInInput = z.object({ email: z.string().max(254).trim().toLowerCase(), password: z.string().max(1_024) });
const changePasswordInput = z.object({ currentPassword: z.string().max(1_024), newPassword: password });

/** What every endpoint gets. */
interface Call extends Context {
  request: Request;
  /** Address of the browser, as the door found it. */
  address: string;
  signIn: SignIn;
  throttles: { person: Throttle; address: Throttle };
}

const endpoints: Readonly<Record<string, { method: string; run: (call: Call) => Promise<Response> }>> = {
  '/api/auth/sign-in/email': { method: 'POST', run: signInWithEmail },
  '/api/auth/sign-out': { method: 'POST', run: signOut },
  '/api/auth/get-session': { method: 'GET', run: getSession },
  '/api/auth/change-password': { method: 'POST', run: changePassword },
};

/**
 * The door `/api/auth/*`: sign-in/email, sign-out, get-session, change-password, and nothing else. Changes need a page
 * of ours as origin. Failed sign-ins are limited: 10 in 15 minutes for one address and person, 100 for one address.
 */
export function createAuthHandler(
  services: Services,
  signIn: SignIn,
  log: Logger,
): (request: Request, address?: string) => Promise<Response> {
  const throttles = { person: createThrottle(10, 15 * minute), address: createThrottle(100, 15 * minute) };
  return async (request, address = 'unknown') => {
    const requestId = randomUUID();
    try {
      const endpoint = endpoints[new URL(request.url).pathname];
      if (!endpoint) throw new DomainError('not_found', 'not_found');
      if (endpoint.method !== request.method) {
        throw new DomainError('method_not_allowed', 'method_not_allowed', { params: { methods: endpoint.method } });
      }
      if (request.method !== 'GET') requireOwnMutation(request.headers, services.config);
      const now = new Date();
      const call = { ...services, actor: anonymous, now, requestId, log, request, address, signIn, throttles };
      const response = await endpoint.run(call);
      response.headers.set('cache-control', 'no-store');
      return response;
    } catch (error) {
      return problemResponse(error, request, requestId, log);
    }
  };
}

async function signInWithEmail(call: Call): Promise<Response> {
  const body = parse(signInInput, await readJsonBody(call.request, call.config.limits));
  const { address, now, throttles } = call;
  const from = household(address);
  throttles.address.take(from, now);
  throttles.person.take(`${from} ${body.email}`, now);
  const cookies = await cookiesOfSignIn(call.signIn, body, call.request.headers, address);
  throttles.address.giveBack(from);
  throttles.person.giveBack(`${from} ${body.email}`);
  return new Response(null, { status: 204, headers: cookies });
}

/**
 * Signs in and gives the `Set-Cookie` headers to send. The body that the library answers with is dropped: it holds
 * the session's token. Throws 401 `credentials_refused`, the same for unknown people and wrong passwords.
 */
export async function cookiesOfSignIn(
  signIn: SignIn,
  body: { email: string; password: string },
  headers: Headers,
  address: string,
): Promise<Headers> {
  try {
    const { headers: answered } = await signIn.api.signInEmail({
      body,
      headers: libraryHeaders(headers, address),
      returnHeaders: true,
    });
    return onlyCookies(answered);
  } catch (error) {
    if (error instanceof APIError && error.statusCode < 500) {
      throw new DomainError('unauthenticated', 'credentials_refused');
    }
    throw error;
  }
}

async function signOut(call: Call): Promise<Response> {
  // First our own delete: the library would call a sign-out done even while the database is away.
  await endSession(call, call.request.headers);
  const { headers } = await call.signIn.api.signOut({
    headers: libraryHeaders(call.request.headers, call.address),
    returnHeaders: true,
  });
  return new Response(null, { status: 204, headers: onlyCookies(headers) });
}

async function getSession(call: Call): Promise<Response> {
  const session = await readSession(call, call.request.headers, call.now);
  const user = session === null ? null : { ...(await me({ ...call, actor: session.actor })), email: session.email };
  return Response.json({ user });
}

async function changePassword(call: Call): Promise<Response> {
  const session = await readSession(call, call.request.headers, call.now);
  const actor = session?.actor ?? anonymous;
  allow(actor, 'viewer');
  const body = parse(changePasswordInput, await readJsonBody(call.request, call.config.limits));
  // Whoever has the session could otherwise try passwords at leisure.
  const key = `change ${actor.id}`;
  call.throttles.person.take(key, call.now);
  try {
    const { headers } = await call.signIn.api.changePassword({
      body: { ...body, revokeOtherSessions: true },
      headers: libraryHeaders(call.request.headers, call.address),
      returnHeaders: true,
    });
    call.throttles.person.giveBack(key);
    await call.db.transaction(async (tx) => {
      const target = { kind: 'member', id: actor.id };
      await recordAudit(tx, { ...call, actor }, { action: 'member.password', target });
      // The other sessions are ended: live connections that hang on them look again.
      await recordChange(tx, 'member', actor.id);
    });
    return new Response(null, { status: 204, headers: onlyCookies(headers) });
  } catch (error) {
    if (error instanceof APIError && error.statusCode < 500) {
      const faults = [{ path: '/currentPassword', code: 'password_wrong' as const }];
      throw new DomainError('unprocessable', 'password_wrong', { faults });
    }
    throw error;
  }
}

/** What the library may know of the request: cookie, browser, and the address that the door found. */
function libraryHeaders(headers: Headers, address: string): Headers {
  const passed = new Headers({ [addressHeader]: address });
  for (const name of ['cookie', 'user-agent']) {
    const value = headers.get(name);
    if (value !== null) passed.set(name, value.slice(0, 4_096));
  }
  return passed;
}

function onlyCookies(headers: Headers | null | undefined): Headers {
  const cookies = new Headers();
  for (const cookie of headers?.getSetCookie() ?? []) cookies.append('set-cookie', cookie);
  return cookies;
}
