import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { writeCursor } from '#server/domain/cursor.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { openRestDoor, type RestDoor, type RestReply } from '#server/testing/rest-door.ts';
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
  parts = {
    ...parts,
    ...{ token: unknown, output: unknown, archive: unknown, execution: unknown },
    ...{ namespace: 'Acme.Lab', other: '1.0', key: '0'.repeat(32) },
    ...{ formula: 'Acme.Lab.blog', slot: 'production', protocol: 'tcp', port: '80' },
    ...{ service: 'blog', number: '1', unit: '1' },
  };
});
afterAll(() => door.close());

/**
 * Whether every part, parameter, header and body is tried with every malformed value, as in `npm run test:malformed`.
 * `npm test` tries each of them with a sixteenth of the values, and each value with a sixteenth of them.
 */
const isWhole = process.env.ANNEX_MALFORMED === 'all';
let turn = 0;

/** Returns the malformed values for the next part or parameter. */
function some<Value>(values: readonly Value[]): readonly Value[] {
  turn += 1;
  return isWhole ? values : values.filter((_, index) => (index + turn) % 16 === 0);
}

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

/** Expects a success or a problem document, but no 5xx. */
function expectNo5xx(asked: string, { status, text, headers, body }: RestReply): void {
  expect({ asked, status, text: status >= 500 ? text : '' }).toMatchObject({ text: '' });
  if (status < 400) return;
  const requestId = headers.get('x-request-id');
  expect({ asked, type: headers.get('content-type') }).toEqual({ asked, type: 'application/problem+json' });
  expect({ asked, problem: body }).toMatchObject({ asked, problem: { status, code: expect.any(String), requestId } });
}

describe.each(routes.map((route) => [route.operationId, route] as const))('%s', (_, route) => {
  const named = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '');
  const body = route.body ? { body: {} } : {};

  test('malformed parts of its path cause no 5xx', async () => {
    for (const name of named) {
      for (const [what, odd] of some(oddParts)) {
        expectNo5xx(`${name}: ${what}`, await door.call(route.method, pathOf(route, { [name]: odd }), body));
      }
    }
  });

  test('malformed queries and cursors cause no 5xx', async () => {
    const asked = Object.keys(route.query.shape);
    for (const name of asked) {
      for (const odd of some(name === 'cursor' ? oddCursors : oddValues)) {
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
    const hasBody = Boolean(route.body ?? route.takesZip ?? route.takesStream ?? route.takesFile);
    // Each text arrives as JSON, and each other type with two texts.
    const pairs = types.flatMap((type, index) =>
      (hasBody ? texts.slice(0, index === 0 ? undefined : 2) : ['']).map((text) => [type, text] as const),
    );
    for (const [type, text] of some(pairs)) {
      const call = { ...(hasBody && { body: text }), headers: { 'content-type': type } };
      expectNo5xx(`${type.slice(0, 40)}: ${text.slice(0, 40)}`, await door.call(route.method, pathOf(route), call));
    }
    const headers = [
      ['if-match', '"99999999999999999999"'],
      ['accept', ';;q=,*/'],
      ['accept-language', `${'*;q=9,'.repeat(500)}und-DE`],
      ['range', 'bytes=9-1'],
      ['content-encoding', 'gzip'],
    ] as const;
    for (const [name, value] of some(headers)) {
      expectNo5xx(name, await door.call(route.method, pathOf(route), { ...body, headers: { [name]: value } }));
    }
  });
});

/** The parts of a JSON Schema that `oddBodies` reads. */
interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  items?: Schema;
  maxLength?: number;
  anyOf?: Schema[];
}

interface OddBody {
  what: string;
  /** Path of the fault that the problem document must name. */
  path: string;
  body: unknown;
}

const wrongFor: Readonly<Record<string, unknown>> = { string: 42, object: 'x', array: {} };

/** Returns invalid bodies for every place in the schema, each with a single fault. */
function oddBodies(schema: Schema, path = '', wrap: (value: unknown) => unknown = (value) => value): OddBody[] {
  const odd = (what: string, value: unknown, at = path) => ({
    what: `${at || '/'} ${what}`,
    path: at,
    body: wrap(value),
  });
  const types = [schema.type ?? []].flat();
  const found = types.length === 0 ? [] : [odd('wrong type', wrongFor[types[0] ?? ''] ?? 'x')];
  if (types.length > 0 && !types.includes('null')) found.push(odd('null', null));
  if (schema.maxLength !== undefined) found.push(odd('too long', 'x'.repeat(schema.maxLength + 1)));
  if (schema.items) {
    found.push(...oddBodies(schema.items, `${path}/0`, (value) => wrap([value])));
  }
  if (schema.properties === undefined) return found;
  for (const name of schema.required ?? []) found.push(odd('missing', {}, `${path}/${name}`));
  if (schema.additionalProperties === false) found.push(odd('unknown', { unexpected: 1 }, `${path}/unexpected`));
  for (const [name, inner] of Object.entries(schema.properties)) {
    found.push(...oddBodies(inner, `${path}/${name}`, (value) => wrap({ [name]: value })));
  }
  return found;
}

interface Answer {
  status: number;
  language: string | null;
  errors: { path: string; code: string; message: string }[];
}

/** Codes whose German message was compared with the English one. */
const translated = new Set<string>();
const withBodies = routes.filter(({ body }) => body !== null);
test.each(withBodies.map((route) => [route.operationId, route] as const))(
  '%s names what is wrong in its body, in the language of the caller',
  async (_, route) => {
    const schema = z.toJSONSchema(route.body ?? z.never(), { io: 'input', unrepresentable: 'any' }) as Schema;
    const wrong: string[] = [];
    const ask = async (body: unknown, language: string): Promise<Answer> => {
      const headers = { 'accept-language': language, 'content-type': 'application/json' };
      const reply = await door.call(route.method, pathOf(route), { body: JSON.stringify(body), headers });
      expectNo5xx(JSON.stringify(body).slice(0, 80), reply);
      const { errors = [] } = reply.body as Partial<Pick<Answer, 'errors'>>;
      return { status: reply.status, language: reply.headers.get('content-language'), errors };
    };
    for (const { what, path, body } of oddBodies(schema)) {
      const english = await ask(body, 'en');
      const codes = english.errors.map(({ path, code }) => `${path} ${code}`);
      if (english.status !== 422) wrong.push(`${what}: ${english.status}`);
      else if (!english.errors.some((fault) => fault.path === path)) wrong.push(`${what}: ${codes.join(', ')}`);
      if (english.errors.every(({ code }) => translated.has(code))) continue;
      const german = await ask(body, 'de');
      if (german.language !== 'de') wrong.push(`${what}: in ${german.language}`);
      for (const [index, { code, message }] of english.errors.entries()) {
        translated.add(code);
        const fault = german.errors[index];
        if (fault?.code !== code || fault.message === message) wrong.push(`${what}: ${fault?.message}`);
      }
    }
    expect(wrong).toEqual([]);
  },
);
