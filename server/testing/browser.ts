import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { createAuthHandler, type PersonContext, readSession, type SignIn } from '#server/auth/index.ts';
import { anonymous } from '#server/domain/actor.ts';
import type { Services } from '#server/domain/context.ts';

const log = pino({ level: 'silent' });

/** Opens a browser that calls `/api/auth/*`. It keeps cookies, and sends requests as the portal's pages do. */
export function openBrowser(services: Services, signIn: SignIn, address = '192.0.2.1') {
  const handle = createAuthHandler(services, signIn, log);
  const cookies = new Map<string, string>();
  const origin = services.config.url;

  const headers = (): Headers => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return new Headers({ origin, 'user-agent': 'Mozilla/5.0 Firefox/141.0', ...(cookie === '' ? {} : { cookie }) });
  };
  const keep = (response: Response): Response => {
    for (const header of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? [];
      if (/; Max-Age=0(;|$)/.test(header)) cookies.delete(name);
      else cookies.set(name, value);
    }
    return response;
  };
  return {
    cookies,
    /** `secondsOff` is how many seconds the portal's clock is ahead. */
    async post(path: string, body: unknown = {}, secondsOff = 0): Promise<Response> {
      const now = new Date(Date.now() + secondsOff * 1_000);
      const sent = headers();
      sent.set('content-type', 'application/json');
      const request = new Request(`${origin}/api/auth${path}`, {
        method: 'POST',
        headers: sent,
        body: JSON.stringify(body),
      });
      return keep(await handle(request, address, now));
    },
    async get(path: string, secondsOff = 0): Promise<Response> {
      const now = new Date(Date.now() + secondsOff * 1_000);
      return keep(await handle(new Request(`${origin}/api/auth${path}`, { headers: headers() }), address, now));
    },
    /** Returns the context of the signed-in member, for verbs that act on the member's own account. */
    async person(now = new Date()): Promise<PersonContext> {
      const session = await readSession(services, headers(), now);
      return {
        ...services,
        actor: session?.actor ?? anonymous,
        origin: { door: 'page', address: '192.0.2.1', client: null },
        now,
        requestId: randomUUID(),
        log,
        signIn,
        headers: headers(),
        address,
        session: async () => session,
      };
    },
  };
}

/** Returns the status and the code of a rejection; the code is undefined for other responses. */
export async function refusalOf(response: Response): Promise<[number, string | undefined]> {
  const body = response.status === 204 ? {} : ((await response.json()) as { code?: string });
  return [response.status, body.code];
}
