import { BlockList } from 'node:net';

import { pino } from 'pino';
import { type Role, roles } from '#db/schema/auth.ts';
import { openSignIn } from '#server/auth/index.ts';
import { addMember } from '#server/auth/members/add-member.ts';
import { updateMember } from '#server/auth/members/index.ts';
import { hashPassword } from '#server/auth/password-hash.ts';
import { createToken } from '#server/auth/tokens/index.ts';
import type { Services } from '#server/domain/context.ts';
import { openLive } from '#server/live/index.ts';
import { openDoors } from '#server/portal/doors.ts';
import { serve } from '#server/process/http.ts';
import { openBrowser } from './browser.ts';
import { testBootstrap, testContext, testServices } from './context.ts';

/**
 * The callers. There is a member and a token for each role, for an outsider who publishes in another namespace, and for
 * an operator and a publisher with the grant `scripts`.
 */
export const callers = [...roles, 'outsider', 'scripter', 'author'] as const;
export type Caller = (typeof callers)[number];

const others = { outsider: 'publisher', scripter: 'operator', author: 'publisher' } as const;

export const roleOf = (caller: Caller): Role =>
  caller === 'outsider' || caller === 'scripter' || caller === 'author' ? others[caller] : caller;

/** Whether the caller has the grant `scripts`. */
export const hasGrant = (caller: Caller): boolean => caller === 'scripter' || caller === 'author';

/** Namespaces of the callers whose role is publisher. */
export const namespaceOf: Readonly<Partial<Record<Caller, string>>> = {
  publisher: 'Acme.Lab',
  outsider: 'Other.Lab',
  author: 'Acme.Lab',
};

/** A portal's entry points on one port, without its pages, and a member and a token for each caller. */
export interface PortalDoors {
  url: string;
  services: Services;
  /** The `Cookie` header for each member's session. */
  cookies: Readonly<Record<Caller, string>>;
  members: Readonly<Record<Caller, string>>;
  tokens: Readonly<Record<Caller, string>>;
  /** Calls the portal from another IP address each time, so that limits per address do not apply. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Returns a digest of all tables, without their `last_used…` columns. */
  digest(): Promise<string>;
  close(): Promise<void>;
}

const password = 'correct horse battery';

export async function openPortalDoors(): Promise<PortalDoors> {
  const trustProxy = new BlockList();
  trustProxy.addAddress('127.0.0.1');
  const services = await testServices({
    config: { url: 'http://annex.test', bootstrap: { token: null, person: null }, trustProxy, vmRate: 0 },
  });
  const log = pino({ level: 'silent' });
  const live = openLive(services.wakes, services.config.limits.streams);
  const signIn = openSignIn(services, log);
  const doors = openDoors({ ...services, log }, live, signIn);
  const serving = await serve({
    host: '127.0.0.1',
    port: 0,
    trustProxy,
    limits: services.config.limits,
    log,
    route: (path) => doors.route(path),
    fallback: async (_request, response) => void response.writeHead(404).end(),
  });
  const url = `http://127.0.0.1:${serving.port}`;

  const ctx = await testContext({ services, actor: testBootstrap });
  const passwordHash = await hashPassword(password);
  const made = await Promise.all(
    callers.map(async (caller) => {
      const role = roleOf(caller);
      const namespaces = [namespaceOf[caller] ?? []].flat();
      const email = `${caller}@example.org`;
      const member = { name: caller, email, passwordHash, role, namespaces };
      const { id } = await services.db.transaction((tx) => addMember(tx, ctx, member));
      const browser = openBrowser(services, signIn);
      await browser.post('/sign-in/email', { email, password });
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const scripts = hasGrant(caller);
      if (scripts) await updateMember(ctx, { id, scripts });
      const { value: token } = await createToken(ctx, { name: caller, role, namespaces, scripts });
      return { caller, id, cookie, token };
    }),
  );
  const byCaller = (part: 'id' | 'cookie' | 'token') =>
    Object.fromEntries(made.map((one) => [one.caller, one[part]])) as Record<Caller, string>;

  let calls = 0;
  return {
    url,
    services,
    cookies: byCaller('cookie'),
    members: byCaller('id'),
    tokens: byCaller('token'),
    fetch(path, init = {}) {
      calls += 1;
      const headers = new Headers(init.headers);
      headers.set('x-forwarded-for', `10.${calls >> 16}.${(calls >> 8) & 255}.${calls & 255}`);
      return fetch(`${url}${path}`, { ...init, headers, redirect: 'manual' });
    },
    async digest() {
      const { rows } = await services.db.$client.query<{ name: string }>(
        `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' order by 1`,
      );
      const parts = rows.map(
        ({ name }) =>
          `select '${name}' as name, md5(coalesce(string_agg(row, '' order by row), '')) as digest from
           (select (select jsonb_object_agg(key, value) from jsonb_each(to_jsonb(t)) where key not like 'last_used%')::text
              as row from ${name} t) r`,
      );
      const tables = await services.db.$client.query<{ name: string; digest: string }>(parts.join(' union all '));
      return tables.rows.map(({ name, digest }) => `${name} ${digest}`).join('\n');
    },
    async close() {
      await serving.close(0);
      await doors.close();
      await live.close();
    },
  };
}
