import { eq } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { apiTokens } from '#db/schema/index.ts';
import type { Role } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { longTest } from '#server/testing/long.ts';
import {
  asToken,
  differences,
  expected,
  expectedFor,
  type Line,
  lines,
  mutations,
  openPermissionStage,
  ours,
  type PermissionStage,
  procedures,
  queries,
  type Shape,
  type Who,
  whos,
  wrapped,
} from '#server/testing/permission-stage.ts';
import { callers } from '#server/testing/portal-doors.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { permissions } from './permissions.ts';
import { appRouter } from './root.ts';

const openLine: Line = { role: null };

/** The function behind a procedure. Tests call it without the entry point's checks. */
type Resolver = (call: { ctx: Context; input: unknown }) => Promise<unknown>;

let stage: PermissionStage;
let doors: PermissionStage['doors'];

beforeAll(async () => {
  stage = await openPermissionStage();
  ({ doors } = stage);
});
afterAll(() => doors.close());

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
    const calls = refused(who).map(({ path, want }) => ({
      name: path,
      want,
      got: () => stage.ask(path, stage.asMember(who)),
    }));
    expect(await differences(calls)).toEqual([]);
    await unchanged();
  });

  longTest.each(whos)('pages as %s, permitted', async (who) => {
    const out = new Set(refused(who).map(({ path }) => path));
    const calls = procedures
      .filter(({ path }) => !out.has(path))
      .map(({ path }) => ({ name: path, want: 'let in', got: () => stage.ask(path, stage.asMember(who)) }));
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
        const got = await stage.batch(some, stage.asMember(who), isGet);
        expect(some.map((path, index) => `${path} ${got[index]}`)).toEqual(some.map((path) => `${path} ${want(path)}`));
      }
    }
  });

  test('a permitted call in a stage.batch does not permit the other calls', async () => {
    const url = '/api/trpc/account.rename,members.remove,tokens.create?batch=1';
    const body = {
      0: { json: { name: 'viewer' } },
      1: { json: { id: doors.members.operator } },
      2: { json: { name: 'smuggled', role: 'admin' } },
    };
    const response = await stage.post(url, stage.asMember('viewer'), JSON.stringify(body));
    const codes = ((await response.json()) as Shape[]).map(({ error }) => error?.json.data.code ?? 'done');
    expect(codes).toEqual(['done', 'forbidden', 'forbidden']);
    expect(await stage.ask('members.me', stage.asMember('operator'))).toBe('let in');
    expect(await doors.services.db.$count(apiTokens, eq(apiTokens.name, 'smuggled'))).toBe(0);
  });

  test('rejects mutations by GET, alone and in batches', async () => {
    const calls = mutations.map((path) => ({
      name: path,
      want: '405',
      got: async () =>
        String(
          (await doors.fetch(`/api/trpc/${path}?input=${wrapped({})}`, { headers: stage.asMember('admin') })).status,
        ),
    }));
    expect(await differences(calls)).toEqual([]);
    const inputs = encodeURIComponent(JSON.stringify({ 0: { json: {} }, 1: { json: { id: doors.members.viewer } } }));
    const together = await doors.fetch(`/api/trpc/members.list,members.remove?batch=1&input=${inputs}`, {
      headers: stage.asMember('admin'),
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
      const headers = { ...from, ...stage.cookieOf('admin') };
      const calls = mutations.map((path) => ({
        name: path,
        want: '403 origin_refused',
        got: () => stage.ask(path, headers),
      }));
      expect(await differences(calls)).toEqual([]);
      expect(new Set(await stage.batch(mutations.slice(0, 40), headers, false))).toEqual(
        new Set(['403 origin_refused']),
      );
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
    ['agent', stage.credential],
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
            const got = new Set(await stage.batch(closed.slice(at, at + 40), headers, isGet));
            expect([name, ...got]).toEqual([name, '401 unauthenticated']);
          }
        }
        expect([name, await stage.ask('live.changes', headers)]).toEqual([name, '401 unauthenticated']);
      }
    }
    await unchanged();
  });

  test('a session or a token is not accepted as an agent', async () => {
    const ways = [
      ...callers.flatMap((caller) => [stage.cookieOf(caller), asToken(doors.tokens[caller])]),
      {},
      asToken(`${stage.credential}x`),
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

/** Valid input, so that publishers' verbs reach the namespace check. */
const given = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', lang: 'en', reason: 'x', platforms: [], file: [] };

describe('verbs check the role of the permission table themselves:', () => {
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
        got: () =>
          stage.verdictOf(role, async (ctx) => verbs[path]?._def.resolver({ ctx, input: { ...given, schema: {} } })),
      }));
    expect(await differences(calls)).toEqual([]);
    expect(await doors.digest()).toBe(before);
  });
});
