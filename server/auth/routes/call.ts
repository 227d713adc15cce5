import { readCookie, setCookie } from '../cookies.ts';
import type { PersonContext } from '../person.ts';

/** A call of an endpoint of `/api/auth/*`. */
export interface AuthCall extends PersonContext {
  request: Request;
}

export type AuthRoute = (call: AuthCall) => Promise<Response>;

/** An answer without a body that sets these cookies. */
export function done(...cookies: string[]): Response {
  const response = new Response(null, { status: 204 });
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  return response;
}

/** The same with a body. */
export function answer(body: unknown, ...cookies: string[]): Response {
  const response = Response.json(body);
  for (const cookie of cookies) response.headers.append('set-cookie', cookie);
  return response;
}

type Waiting = 'passkey' | 'factor' | 'provider';

/** The token of this browser's challenge; null without one. */
export const tokenOf = (call: AuthCall, name: Waiting): string | null => readCookie(call.config, call.headers, name);

/** Removes a cookie that is no longer needed. */
export const dropCookie = (call: AuthCall, name: Waiting): string => setCookie(call.config, name, '', 0);
