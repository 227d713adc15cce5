import { readCookie, setCookie } from '../cookies.ts';
import type { PersonContext } from '../person.ts';

export interface AuthCall extends PersonContext {
  request: Request;
}

export type AuthRoute = (call: AuthCall) => Promise<Response>;

/** Returns a response without a body that sets these cookies. */
export function done(...cookies: string[]): Response {
  const response = new Response(null, { status: 204 });
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  return response;
}

/** Returns a response with a body that sets these cookies. */
export function answer(body: unknown, ...cookies: string[]): Response {
  const response = Response.json(body);
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  return response;
}

type Waiting = 'passkey' | 'factor' | 'provider';

/** Returns the token of this browser's challenge from its cookie; null if there is none. */
export const tokenOf = (call: AuthCall, name: Waiting): string | null => readCookie(call.config, call.headers, name);

/** Returns a `Set-Cookie` header that deletes this cookie. */
export const dropCookie = (call: AuthCall, name: Waiting): string => setCookie(call.config, name, '', 0);
