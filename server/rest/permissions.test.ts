import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Role } from '#server/domain/actor.ts';
import {
  asToken,
  differences,
  expected,
  expectedFor,
  type Line,
  openPermissionStage,
  type PermissionStage,
  whos,
} from '#server/testing/permission-stage.ts';
import { namespaceOf, roleOf } from '#server/testing/portal-doors.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { routes } from './routes/index.ts';

let stage: PermissionStage;
let doors: PermissionStage['doors'];

beforeAll(async () => {
  stage = await openPermissionStage();
  ({ doors } = stage);
});
afterAll(() => doors.close());

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
  return stage.verdictOn(response);
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
    for (const headers of [stage.asMember('admin'), asToken(stage.credential), asToken('annex_token_nothing')]) {
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
            callRest(
              route,
              asToken(doors.tokens[who]),
              stage.handlers[who === 'publisher' ? 'foreign' : 'own'].handler,
            ),
        })),
      );
    expect(calls.length).toBeGreaterThan(10);
    expect(await differences(calls)).toEqual([]);
    expect(await doors.digest()).toBe(before);
  });
});

/** Valid input, so that publishers' verbs reach the namespace check. */
const given = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', lang: 'en', reason: 'x', platforms: [], file: [] };

describe('verbs check the role of the permission table themselves:', () => {
  const roles = [null, 'viewer', 'operator', 'publisher'] as const;
  const below = (role: Role | null) => (line: Line) => expected(line, role) !== 'let in';

  test.each(roles)('verbs of the API as %s', async (role) => {
    const before = await doors.digest();
    const nothing = (async function* () {})();
    const calls = routes.filter(below(role)).map((route) => ({
      name: route.operationId,
      want: expected(route, role),
      got: () =>
        stage.verdictOf(role, (ctx) =>
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
