import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeCursor } from '#server/domain/cursor.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import type { RestRoute } from './route.ts';
import { routes } from './routes/index.ts';

let door: RestDoor;
/** Values for path parameters that lead to an existing VM or version. */
let parts: Record<string, string>;

beforeAll(async () => {
  door = await openRestDoor({ config: { wire: true } });
  const ctx = await testContext({ services: door.services });
  await givenVersion(ctx.db);
  const { id } = await registerVm(ctx, { name: 'odd' });
  const goal = { handler: 'Acme.Lab.Probe', version: '1.0.0.0', state: 'enabled' as const };
  await setExtension(ctx, { vmId: id, name: 'probe', goal });
  const unknown = '01920000-0000-7000-8000-000000000001';
  parts = { id, name: 'probe', handler: 'Acme.Lab.Probe', version: '1.0.0.0', lang: 'de', incarnation: '2' };
  parts = { ...parts, ...{ token: unknown, output: unknown, archive: unknown, namespace: 'Acme.Lab', other: '1.0' } };
});
afterAll(() => door.close());

const oddParts = [
  ['not UTF-8', '%ff'],
  ['half a character', '%e2%82'],
  ['a broken escape', '%zz'],
  ['an escape cut off', '%'],
  ['NUL', '%00'],
  ['NUL within an id', '01920000-0000-7000-8000-00000000000%00'],
  ['half a pair', '%ED%A0%80'],
  ['dots', '..%2f..%2fetc'],
  ['a number beyond the database', '99999999999999999999'],
  ['a number below zero', '-1'],
  ['no number', 'NaN'],
  ['an emoji', '%F0%9F%92%A9'],
  ['5,000 characters', 'x'.repeat(5_000)],
  ['a thousand dots', '.'.repeat(1_000)],
] as const;

const oddCursors = [
  'WyJ4Il0',
  'x',
  '%ff',
  '%00',
  '%zz',
  ...[
    [],
    ['x'],
    [''],
    ['-1'],
    ['1e999'],
    ['NaN'],
    ['1.5'],
    ['99999999999999999999'],
    ['x', 'x'],
    ['2026-01-01', 'x'],
    ['2026-01-01T00:00:00Z', '99999999999999999999'],
    ['999999-01-01T00:00:00Z', '1'],
    ['infinity', '1'],
    ['now', '1'],
    ['name', 'x', 'x'],
    ['health', 'x', 'x', 'x'],
    ['\ud800'],
    ['\u0000'],
    ['x'.repeat(60)],
  ].map(writeCursor),
  writeCursor([null, {}, 1] as unknown as string[]),
];

const oddValues = [
  '%ff',
  '%00',
  '%zz',
  '-1',
  '1e999',
  '99999999999999999999',
  'NaN',
  'x'.repeat(5_000),
  '%F0%9F%92%A9',
  '[]',
];

const pathOf = (route: RestRoute, over: Record<string, string> = {}): string =>
  route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => over[name] ?? encodeURIComponent(parts[name] ?? 'x'));

const expectNo5xx = (asked: string, { status, text }: { status: number; text: string }) =>
  expect({ asked, status, text: status >= 500 ? text : '' }).toMatchObject({ text: '' });

describe.each(routes.map((route) => [route.operationId, route] as const))('%s', (_, route) => {
  const named = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  const body = route.body ? { body: {} } : {};

  test('malformed parts of its path cause no 5xx', async () => {
    for (const name of named) {
      for (const [what, odd] of oddParts) {
        expectNo5xx(`${name}: ${what}`, await door.call(route.method, pathOf(route, { [name]: odd }), body));
      }
    }
  });

  test('malformed queries and cursors cause no 5xx', async () => {
    const asked = Object.keys(route.query.shape);
    for (const name of asked) {
      for (const odd of name === 'cursor' ? oddCursors : oddValues) {
        const query = `?${name}=${odd}`;
        expectNo5xx(query.slice(0, 80), await door.call(route.method, pathOf(route) + query, body));
      }
    }
  });

  test('malformed headers and bodies cause no 5xx', async () => {
    const texts = ['', '{', '[]', 'null', '"\\ud800"', '{"a":1e999}', '{"__proto__":{}}', '\u0000', '['.repeat(50_000)];
    const types = [
      'application/json',
      'application/json; charset=utf-16',
      'text/plain',
      'multipart/form-data',
      ';;',
      'x'.repeat(500),
    ];
    const hasBody = Boolean(route.body ?? route.takesZip ?? route.takesFile);
    for (const type of types) {
      for (const text of hasBody ? texts : ['']) {
        const call = { ...(hasBody && { body: text }), headers: { 'content-type': type } };
        expectNo5xx(`${type.slice(0, 40)}: ${text.slice(0, 40)}`, await door.call(route.method, pathOf(route), call));
      }
    }
    for (const [name, value] of [
      ['if-match', '"99999999999999999999"'],
      ['accept', ';;q=,*/'],
      ['accept-language', `${'*;q=9,'.repeat(500)}und-DE`],
      ['range', 'bytes=9-1'],
      ['content-encoding', 'gzip'],
    ] as const) {
      expectNo5xx(name, await door.call(route.method, pathOf(route), { ...body, headers: { [name]: value } }));
    }
  });
});
