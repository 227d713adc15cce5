import { randomUUID } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Role } from '#db/schema/auth.ts';
import { apiTokens, auditEntries, passkeys, sessions } from '#db/schema/index.ts';
import { type Actor, hasRole, hasScripts } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { DomainError, statusOfKind } from '#server/domain/error.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { routes } from '#server/rest/routes/index.ts';
import { givenAgent } from '#server/testing/agent-door.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { longTest } from '#server/testing/long.ts';
import {
  type Caller,
  callers,
  hasGrant,
  namespaceOf,
  openPortalDoors,
  type PortalDoors,
  roleOf,
} from '#server/testing/portal-doors.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { type Permission, permissions } from '#server/trpc/permissions.ts';
import { appRouter } from '#server/trpc/root.ts';

/** A caller; null for an anonymous one. */
type Who = Caller | null;
const whos: readonly Who[] = [null, ...callers];

const procedures = Object.entries(
  appRouter._def.procedures as unknown as Record<string, { _def: { type: 'query' | 'mutation' | 'subscription' } }>,
).map(([path, { _def }]) => ({ path, type: _def.type }));
const mutations = procedures.filter(({ type }) => type === 'mutation').map(({ path }) => path);
const queries = procedures.filter(({ type }) => type === 'query').map(({ path }) => path);
const lines: Readonly<Record<string, Permission>> = permissions;

/** Error codes with which an entry point rejects a caller for lack of permission. */
const refusals = ['unauthenticated', 'forbidden', 'scripts_forbidden', 'namespace_forbidden', 'origin_refused'];
/** A row of a table of permissions. */
type Line = Pick<Permission, 'role' | 'grant' | 'orGrant'>;
function expected({ role, grant, orGrant }: Line, who: Role | null, scripts = false): string {
  if (role === null) return 'let in';
  if (who === null) return '401 unauthenticated';
  const actor: Actor = { kind: 'user', id: '', name: '', role: who, namespaces: [], scripts };
  if (orGrant === 'scripts' && hasScripts(actor)) return 'let in';
  if (!hasRole(actor, role)) return '403 forbidden';
  return grant === undefined || hasScripts(actor) ? 'let in' : '403 scripts_forbidden';
}
/** Returns what a caller of the entry points should get. */
const expectedFor = (line: Line, who: Who): string =>
  who === null ? expected(line, null) : expected(line, roleOf(who), hasGrant(who));
const openLine: Line = { role: null };
const verdict = (status: number, code: unknown): string =>
  refusals.includes(String(code)) || status === 401 || status === 403 ? `${status} ${code}` : 'let in';

/** The function behind a procedure. Tests call it without the entry point's checks. */
type Resolver = (call: { ctx: Context; input: unknown }) => Promise<unknown>;

interface Shape {
  error?: { json: { data: { code: string; httpStatus: number } } };
}

let doors: PortalDoors;
let credential: string;
let agentVm: string;
let deletedVm: string;
let handlers: Record<'own' | 'foreign', { handler: string; version: string }>;

beforeAll(async () => {
  doors = await openPortalDoors();
  const { services } = doors;
  const admin = await testContext({ services });
  const agent = await givenAgent(admin, { url: `${doors.url}/agent/v1` }, 'enrolled');
  credential = agent.credential;
  agentVm = agent.vmId;
  ({ id: deletedVm } = await registerVm(admin, { name: 'deleted' }));
  await removeVm(admin, { vmId: deletedVm });
  handlers = {
    own: await givenVersion(services.db, { handler: 'Acme.Lab.Probe', state: 'draft' }),
    foreign: await givenVersion(services.db, { handler: 'Other.Lab.Probe', state: 'draft' }),
  };
});
afterAll(() => doors.close());

const ours = { origin: 'http://annex.test', 'sec-fetch-site': 'same-origin' };
const cookieOf = (who: Who): Record<string, string> => (who === null ? {} : { cookie: doors.cookies[who] });
const wrapped = (input: unknown) => JSON.stringify({ json: input });

const asMember = (who: Who) => ({ ...ours, ...cookieOf(who) });
const asToken = (token: string | null): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

/** Calls a procedure as the pages' client does. */
async function ask(path: string, headers: Record<string, string>, input: unknown = {}): Promise<string> {
  const type = procedures.find((one) => one.path === path)?.type;
  if (type === 'subscription') return listen(path, headers);
  const response =
    type === 'query'
      ? await doors.fetch(`/api/trpc/${path}?input=${encodeURIComponent(wrapped(input))}`, { headers })
      : await post(`/api/trpc/${path}`, headers, wrapped(input));
  const { error } = (await response.json()) as Shape;
  return verdict(response.status, error?.json.data.code);
}

const post = (path: string, headers: Record<string, string>, body: string) =>
  doors.fetch(path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });

/** Calls many procedures in one request. Returns the verdict on each call. */
async function batch(paths: readonly string[], headers: Record<string, string>, isGet: boolean): Promise<string[]> {
  const inputs = JSON.stringify(Object.fromEntries(paths.map((_, index) => [index, { json: {} }])));
  const url = `/api/trpc/${paths.join(',')}?batch=1`;
  const response = isGet
    ? await doors.fetch(`${url}&input=${encodeURIComponent(inputs)}`, { headers })
    : await post(url, headers, inputs);
  const answers = (await response.json()) as Shape[];
  return answers.map(({ error }) => {
    const { httpStatus = 200, code } = error?.json.data ?? {};
    return verdict(httpStatus, code);
  });
}

/** Reads a subscription's events until it starts or fails. Returns the verdict on the call. */
async function listen(path: string, headers: Record<string, string>): Promise<string> {
  const ended = new AbortController();
  const response = await doors.fetch(`/api/trpc/${path}`, { headers, signal: ended.signal });
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += new TextDecoder().decode(chunk);
    if (/"changes":|"httpStatus":/.test(text)) break;
  }
  ended.abort();
  const [, code] = /"code":"([a-z_]+)"/.exec(text) ?? [];
  return verdict(Number(/"httpStatus":(\d+)/.exec(text)?.[1] ?? response.status), code);
}

/** Returns the differences between the expected and the actual results, one line per call. */
async function differences(
  calls: readonly { name: string; want: string; got(): Promise<string> }[],
): Promise<string[]> {
  const found: string[] = [];
  for (const { name, want, got } of calls) {
    const is = await got();
    if (is !== want) found.push(`${name}: ${is} instead of ${want}`);
  }
  return found;
}

test('every procedure has a line in the table, and every line has a procedure', () => {
  expect(Object.keys(permissions).sort()).toEqual(procedures.map(({ path }) => path).sort());
});

describe('rejected calls change nothing, permitted calls are accepted:', () => {
  let before: string;
  beforeEach(async () => {
    before = await doors.digest();
  });
  const unchanged = async () => expect(await doors.digest()).toBe(before);

  // Permitted calls are tested further below, because some of them change something.
  const refused = (who: Who) =>
    procedures.flatMap(({ path }) => {
      const want = expectedFor(lines[path] ?? openLine, who);
      return want === 'let in' ? [] : [{ path, want }];
    });

  longTest.each(whos)('pages as %s, rejected', async (who) => {
    const calls = refused(who).map(({ path, want }) => ({ name: path, want, got: () => ask(path, asMember(who)) }));
    expect(await differences(calls)).toEqual([]);
    await unchanged();
  });

  longTest.each(whos)('pages as %s, permitted', async (who) => {
    const out = new Set(refused(who).map(({ path }) => path));
    const calls = procedures
      .filter(({ path }) => !out.has(path))
      .map(({ path }) => ({ name: path, want: 'let in', got: () => ask(path, asMember(who)) }));
    expect(await differences(calls)).toEqual([]);
  });

  test.each(whos)('pages as %s in batches: each call has its own result', async (who) => {
    const want = (path: string) => expectedFor(lines[path] ?? openLine, who);
    for (const [paths, isGet] of [
      [queries, true],
      [mutations, false],
    ] as const) {
      for (let at = 0; at < paths.length; at += 40) {
        const some = paths.slice(at, at + 40);
        const got = await batch(some, asMember(who), isGet);
        expect(some.map((path, index) => `${path} ${got[index]}`)).toEqual(some.map((path) => `${path} ${want(path)}`));
      }
    }
  });

  test('a permitted call in a batch does not permit the other calls', async () => {
    const url = '/api/trpc/account.rename,members.remove,tokens.create?batch=1';
    const body = {
      0: { json: { name: 'viewer' } },
      1: { json: { id: doors.members.operator } },
      2: { json: { name: 'smuggled', role: 'admin' } },
    };
    const response = await post(url, asMember('viewer'), JSON.stringify(body));
    const codes = ((await response.json()) as Shape[]).map(({ error }) => error?.json.data.code ?? 'done');
    expect(codes).toEqual(['done', 'forbidden', 'forbidden']);
    expect(await ask('members.me', asMember('operator'))).toBe('let in');
    expect(await doors.services.db.$count(apiTokens, eq(apiTokens.name, 'smuggled'))).toBe(0);
  });

  test('rejects mutations by GET, alone and in batches', async () => {
    const calls = mutations.map((path) => ({
      name: path,
      want: '405',
      got: async () =>
        String((await doors.fetch(`/api/trpc/${path}?input=${wrapped({})}`, { headers: asMember('admin') })).status),
    }));
    expect(await differences(calls)).toEqual([]);
    const inputs = encodeURIComponent(JSON.stringify({ 0: { json: {} }, 1: { json: { id: doors.members.viewer } } }));
    const together = await doors.fetch(`/api/trpc/members.list,members.remove?batch=1&input=${inputs}`, {
      headers: asMember('admin'),
    });
    expect(together.status).toBeGreaterThanOrEqual(400);
    await unchanged();
  });

  const foreign: [string, Record<string, string>][] = [
    ['another site', { origin: 'https://evil.example' }],
    ['a sandboxed page', { origin: 'null' }],
    ['no page at all', {}],
    ['a sibling site', { origin: ours.origin, 'sec-fetch-site': 'same-site' }],
  ];
  test.each(runsLong ? foreign : foreign.slice(0, 1))(
    'a mutation from %s is rejected, even with an admin’s cookie',
    async (_from, from) => {
      const headers = { ...from, ...cookieOf('admin') };
      const calls = mutations.map((path) => ({
        name: path,
        want: '403 origin_refused',
        got: () => ask(path, headers),
      }));
      expect(await differences(calls)).toEqual([]);
      expect(new Set(await batch(mutations.slice(0, 40), headers, false))).toEqual(new Set(['403 origin_refused']));
      for (const [method, path] of [
        ['POST', '/api/auth/sign-out'],
        ['POST', '/api/auth/change-password'],
        ['PUT', '/upload/handlers/Acme.Lab.Probe/versions/1.0.0.0/resources/en'],
      ] as const) {
        const response = await doors.fetch(path, { method, headers, body: '{}' });
        expect([path, response.status, ((await response.json()) as { code: string }).code]).toEqual([
          path,
          403,
          'origin_refused',
        ]);
      }
      await unchanged();
    },
  );

  const tokensOf = (): [string, string][] => [
    ...callers.map((caller): [string, string] => [`token ${caller}`, doors.tokens[caller]]),
    ['agent', credential],
  ];

  test("a token or an agent's credential is not accepted as a session", async () => {
    for (const [name, token] of tokensOf()) {
      for (const headers of [
        { ...ours, ...asToken(token) },
        { ...ours, cookie: `annex.session_token=${token}` },
      ]) {
        for (const [paths, isGet] of [
          [queries, true],
          [mutations, false],
        ] as const) {
          const closed = paths.filter((path) => lines[path]?.role !== null);
          for (let at = 0; at < closed.length; at += 40) {
            const got = new Set(await batch(closed.slice(at, at + 40), headers, isGet));
            expect([name, ...got]).toEqual([name, '401 unauthenticated']);
          }
        }
        expect([name, await ask('live.changes', headers)]).toEqual([name, '401 unauthenticated']);
      }
    }
    await unchanged();
  });

  test('a session or a token is not accepted as an agent', async () => {
    const ways = [
      ...callers.flatMap((caller) => [cookieOf(caller), asToken(doors.tokens[caller])]),
      {},
      asToken(`${credential}x`),
    ];
    for (const headers of ways) {
      for (const [method, path] of [
        ['GET', '/agent/v1/goal-state'],
        ['POST', '/agent/v1/reports'],
        ['GET', `/agent/v1/packages/${'0'.repeat(64)}`],
      ] as const) {
        const body = method === 'POST' ? { body: '{}' } : {};
        expect((await doors.fetch(path, { method, headers, ...body })).status, path).toBe(401);
      }
    }
    await unchanged();
  });
});

/** Returns a well-formed path. Apart from the given handler, its ids do not exist. */
const pathOf = (path: string, handler: string) =>
  `/api/v1${path}`
    .replace('{id}', '00000000-0000-4000-8000-000000000000')
    .replace('{handler}', handler)
    .replace('{formula}', handler)
    .replace('{version}', '1.0.0.0')
    .replace('{token}', '00000000-0000-4000-8000-000000000000')
    .replace('{incarnation}', '1')
    .replace('{lang}', 'en')
    .replace('{name}', 'probe');

/** Valid bodies, so that these calls reach the namespace check. Other calls with a JSON body send `{}`. */
const bodies: Readonly<Record<string, unknown>> = {
  withdrawVersion: { reason: 'x' },
  setResources: [],
  setPlatforms: { platforms: [] },
};

async function callRest(route: (typeof routes)[number], headers: Record<string, string>, handler: string) {
  const hasBody = route.body !== null;
  const type = route.takesZip === true ? 'application/zip' : (route.takesFile?.types[0] ?? 'application/json');
  const response = await doors.fetch(pathOf(route.path, handler), {
    method: route.method,
    headers: { ...headers, ...(route.method === 'GET' ? {} : { 'content-type': type }) },
    ...(hasBody && { body: JSON.stringify(bodies[route.operationId.replace('Formula', '')] ?? {}) }),
    ...(!hasBody && type !== 'application/json' && { body: 'x' }),
  });
  const text = await response.text();
  const code = response.status < 400 ? undefined : (JSON.parse(text) as { code: string }).code;
  return verdict(response.status, code);
}

/** In the short run, the callers of each role. */
const callersOfApi = runsLong ? whos : whos.filter((who) => who === null || who === roleOf(who));

describe('the management API', () => {
  test.each(callersOfApi)('as %s', async (who) => {
    const before = await doors.digest();
    const headers = asToken(who && doors.tokens[who]);
    const calls = routes.map((route) => ({
      name: route.operationId,
      want: expectedFor(route, who),
      got: () => callRest(route, headers, `${(who && namespaceOf[who]) ?? 'Acme.Lab'}.Nothing`),
    }));
    expect(await differences(calls)).toEqual([]);
    expect(await doors.digest()).toBe(before);
  });

  test("rejects cookies and agents' credentials", async () => {
    const before = await doors.digest();
    for (const headers of [asMember('admin'), asToken(credential), asToken('annex_token_nothing')]) {
      const calls = routes.map((route) => ({
        name: route.operationId,
        want: 'refused',
        got: async () => ((await callRest(route, headers, 'Acme.Lab.Probe')).startsWith('401') ? 'refused' : 'let in'),
      }));
      expect(await differences(calls)).toEqual([]);
    }
    expect(await doors.digest()).toBe(before);
  });

  test('rejects a publisher in a foreign namespace', async () => {
    const before = await doors.digest();
    const calls = routes
      .filter(({ inNamespace }) => inNamespace === true)
      .flatMap((route) =>
        (['publisher', 'outsider'] as const).map((who) => ({
          name: `${route.operationId} as ${who}`,
          want: '403 namespace_forbidden',
          got: () =>
            callRest(route, asToken(doors.tokens[who]), handlers[who === 'publisher' ? 'foreign' : 'own'].handler),
        })),
      );
    expect(calls.length).toBeGreaterThan(10);
    expect(await differences(calls)).toEqual([]);
    expect(await doors.digest()).toBe(before);
  });
});

/** Valid input, so that publishers' verbs reach the namespace check. */
const given = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', lang: 'en', reason: 'x', platforms: [], file: [] };

/** Runs a verb with this role, without the entry point's checks. Returns the outcome. */
async function verdictOf(role: Role | null, run: (ctx: Context) => Promise<unknown>): Promise<string> {
  const ctx = await testContext({ services: doors.services, role, namespaces: ['Acme.Lab'] });
  try {
    await run({ ...ctx, session: async () => null, reader: {} } as Context);
    return 'let in';
  } catch (error) {
    return error instanceof DomainError ? verdict(statusOfKind[error.kind], error.code) : 'let in';
  }
}

describe('verbs check the role of the permission tables themselves:', () => {
  const roles = [null, 'viewer', 'operator', 'publisher'] as const;
  const below = (role: Role | null) => (line: Line) => expected(line, role) !== 'let in';

  test.each(roles)('verbs of the pages as %s', async (role) => {
    const before = await doors.digest();
    const verbs = appRouter._def.procedures as unknown as Record<string, { _def: { resolver: Resolver } }>;
    const calls = Object.entries(lines)
      .filter(([, line]) => below(role)(line))
      .map(([path, line]) => ({
        name: path,
        want: expected(line, role),
        got: () => verdictOf(role, async (ctx) => verbs[path]?._def.resolver({ ctx, input: { ...given, schema: {} } })),
      }));
    expect(await differences(calls)).toEqual([]);
    expect(await doors.digest()).toBe(before);
  });

  test.each(roles)('verbs of the API as %s', async (role) => {
    const before = await doors.digest();
    const nothing = (async function* () {})();
    const calls = routes.filter(below(role)).map((route) => ({
      name: route.operationId,
      want: expected(route, role),
      got: () =>
        verdictOf(role, (ctx) =>
          route.run(ctx, {
            params: given,
            query: {},
            body: route.operationId.endsWith('Resources') ? [] : given,
            ifMatch: undefined,
            reader: { acceptLanguage: null, chosenLanguage: null },
            language: 'en',
            type: null,
            upload: { bytes: nothing, declared: undefined },
            form: nothing,
            file: new Uint8Array(),
          }),
        ),
    }));
    expect(await differences(calls)).toEqual([]);
    expect(await doors.digest()).toBe(before);
  });
});

describe('objects of other users', () => {
  test('a publisher is rejected in a foreign namespace, even through the pages', async () => {
    const before = await doors.digest();
    const inNamespace = Object.entries(lines).filter(([, { reach }]) => reach === 'namespace');
    const calls = inNamespace.flatMap(([path]) =>
      (['publisher', 'outsider'] as const).map((who) => ({
        name: `${path} as ${who}`,
        want: '403 namespace_forbidden',
        got: () =>
          ask(path, asMember(who), { ...handlers[who === 'publisher' ? 'foreign' : 'own'], reason: 'x', schema: {} }),
      })),
    );
    expect(await differences(calls)).toEqual([]);
    for (const who of [null, ...callers] as const) {
      const response = await doors.fetch('/upload/handlers/Other.Lab.Probe/versions/1.0.0.0/resources/en', {
        method: 'PUT',
        headers: { 'content-type': 'application/json', ...asMember(who) },
        body: '[]',
      });
      const want = who === null ? 401 : who === 'admin' || who === 'outsider' ? 422 : 403;
      expect([who, response.status]).toEqual([who, want]);
    }
    expect(await doors.digest()).toBe(before);
  });

  test('drafts in other namespaces are not listed', async () => {
    const listed = async (who: Caller) => {
      const response = await doors.fetch(`/api/trpc/packages.drafts?input=${wrapped({})}`, { headers: asMember(who) });
      return JSON.stringify(await response.json());
    };
    expect(await listed('publisher')).not.toContain('Other.Lab');
    expect(await listed('outsider')).not.toContain('Acme.Lab');
    expect(await listed('admin')).toMatch(/Acme\.Lab.*Other\.Lab|Other\.Lab.*Acme\.Lab/);
  });

  test('sessions and passkeys of other members cannot be removed', async () => {
    const { db } = doors.services;
    const admins = eq(sessions.userId, doors.members.admin);
    const [session] = await db.select({ id: sessions.id }).from(sessions).where(admins);
    const passkey = randomUUID();
    await db.insert(passkeys).values({
      id: passkey,
      userId: doors.members.admin,
      name: 'own',
      publicKey: Buffer.from('k'),
      counter: 0,
      transports: [],
      backedUp: false,
      createdAt: new Date(),
    });
    for (const who of callers.filter((caller) => caller !== 'admin')) {
      await ask('account.endSession', asMember(who), { id: session?.id });
      await ask('account.removePasskey', asMember(who), { id: passkey });
      await ask('account.renamePasskey', asMember(who), { id: passkey, name: 'stolen' });
      expect(await ask('members.endSessions', asMember(who), { id: doors.members.admin })).toBe('403 forbidden');
    }
    expect(await db.$count(sessions, admins)).toBe(1);
    expect(await db.select({ name: passkeys.name }).from(passkeys).where(eq(passkeys.id, passkey))).toEqual([
      { name: 'own' },
    ]);
  });

  test('only admins and the person who acted can read a log entry about people', async () => {
    const { db } = doors.services;
    const [act] = await db
      .select({ id: auditEntries.id })
      .from(auditEntries)
      .where(eq(auditEntries.action, 'token.create'))
      .limit(1);
    for (const who of callers) {
      const input = encodeURIComponent(wrapped({ id: act?.id }));
      const response = await doors.fetch(`/api/trpc/activity.get?input=${input}`, { headers: asMember(who) });
      expect([who, response.status]).toEqual([who, who === 'admin' ? 200 : 404]);
      const file = await doors.fetch('/download/activity.jsonl?action=token', { headers: asMember(who) });
      expect([who, file.status, (await file.text()) === '']).toEqual([who, 200, who !== 'admin']);
    }
    expect((await doors.fetch('/download/activity.csv')).status).toBe(401);
    const across = { headers: { ...cookieOf('admin'), 'sec-fetch-site': 'cross-site' } };
    expect((await doors.fetch('/download/activity.csv', across)).status).toBe(403);
  });

  test('a deleted VM cannot be changed, and its agent is rejected', async () => {
    const before = await doors.digest();
    const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' };
    const inputs = { vmId: deletedVm, name: 'probe', goal, incarnation: 1, tags: {}, reason: 'test' };
    for (const path of mutations.filter((one) => /^(vms|goalStates)\./.test(one) && one !== 'vms.create')) {
      const response = await post(`/api/trpc/${path}`, asMember('admin'), wrapped(inputs));
      expect([path, response.status]).toEqual([path, 404]);
    }
    expect(await doors.digest()).toBe(before);
    const agent = () => doors.fetch('/agent/v1/goal-state', { headers: asToken(credential) });
    expect((await agent()).status).toBe(200);
    await removeVm(await testContext({ services: doors.services }), { vmId: agentVm });
    await vi.waitFor(async () => expect((await agent()).status).toBe(401));
  });
});
