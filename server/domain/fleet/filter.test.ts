import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { healthTransitions } from '#db/schema/index.ts';
import { testDatabase } from '#db/testing/database.ts';
import { compareVersions, versionKey } from '#protocol/version.ts';
import { vmHealths } from '#server/domain/verdicts/index.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { randomFrom } from '#server/testing/random-tags.ts';
import { coreFields, type FleetFilter } from './fields.ts';
import { type FleetSource, fleetSource } from './filter.ts';
import { fleetSorts } from './input.ts';
import { fleetOrder } from './order.ts';
import { idOf, insertFleet } from './testing/insert-fleet.ts';

const now = new Date('2026-03-01T12:00:00Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
const ofOneSite = { site: 'a' };

let db: Database;

beforeAll(async () => {
  db = await testDatabase();
  await insertFleet(db, now, [
    {
      name: 'two',
      tags: { site: 'a', env: 'prod' },
      extensions: [
        { name: 'probe', handler: 'Acme.Lab.Probe', version: '1.0.0.0', messageId: 'M1' },
        { name: 'mount', handler: 'Acme.Lab.Mount', version: '2.0.0.0', messageId: 'M2' },
      ],
    },
    { name: 'gone', isDeleted: true, health: null, tags: ofOneSite },
    { name: 'new', health: null, tags: ofOneSite },
    { name: 'silent', health: 'unresponsive', lastSeenAt: ago(3_600), tags: ofOneSite },
    { name: 'quiet', health: 'unresponsive', lastSeenAt: ago(60), tags: { env: '' } },
    { name: 'unseen', health: 'unresponsive', since: ago(30).toISOString() },
    {
      ...{ name: 'broken', health: 'failed', lastSeenAt: ago(3_600), since: ago(600).toISOString() },
      extensions: [
        {
          ...{ name: 'probe', version: '1.10.0.0', running: '1.9.0.0', health: 'failed', cause: 'exit' },
          ...{ command: 'enable', exitCode: 51, since: ago(600), deadlineAt: ago(60) },
        },
        { name: 'calm', version: '1.10.0.0', since: ago(60), deadlineAt: ago(-60), messageId: 'M3' },
      ],
      changes: [
        { at: ago(7_200), from: null, to: 'healthy' },
        { at: ago(1_200), from: 'healthy', to: 'degraded' },
        { at: ago(600), from: 'degraded', to: 'failed' },
      ],
    },
    {
      ...{ name: 'UPPER', health: 'progressing', extensions: [{ name: 'probe' }, { name: 'again' }] },
      changes: [{ at: ago(60), from: 'failed', to: 'progressing' }],
    },
  ]);
  // Changes of extensions and heartbeats are not changes of the VM's health.
  await db.insert(healthTransitions).values([
    { vmId: idOf(0), at: ago(60), extension: 'probe', kind: 'health', from: 'healthy', to: 'failed' },
    { vmId: idOf(0), at: ago(60), extension: null, kind: 'heartbeat', from: 'ready', to: 'unresponsive' },
  ]);
  for (const version of ['1.0.0.0', '1.10.0.0', '2.0.0.0']) {
    for (const handler of ['Acme.Lab.Probe', 'Acme.Lab.Mount']) await givenVersion(db, { handler, version });
  }
});

const everyEvaluated = ['UPPER', 'broken', 'quiet', 'silent', 'two', 'unseen'];

async function namesOf(source: Pick<FleetSource, 'table'>, where: FleetSource['where']): Promise<string[]> {
  const { rows } = await db.execute<{ name: string }>(
    sql`select h.name from ${source.table} where ${where} order by h.name collate "C"`,
  );
  return rows.map(({ name }) => name);
}

/** Filters, each with the names of the matching VMs sorted by health. Such a list contains only evaluated VMs. */
const filters: readonly [string, FleetFilter, readonly string[]][] = [
  ['no condition', {}, everyEvaluated],
  ['empty texts and lists are no conditions', { q: '', health: [], tags: [], handler: '' }, everyEvaluated],
  ['a part of a name, in any case', { q: 'Pp' }, ['UPPER']],
  ['a deleted VM by its name', { q: 'gone' }, []],
  ['a deleted VM by its id', { q: idOf(1) }, []],
  ['a VM by its id', { q: idOf(0) }, ['two']],
  ['an id in capital letters', { q: idOf(0).toUpperCase() }, ['two']],
  ['a part of an id', { q: idOf(0).slice(0, -1) }, []],
  ['every health', { health: [...vmHealths] }, everyEvaluated],
  ['one health', { health: ['unresponsive'] }, ['quiet', 'silent', 'unseen']],
  ['a health twice', { health: ['failed', 'failed'] }, ['broken']],
  ['silence', { silentMinutes: 10 }, ['silent']],
  ['silence for exactly as long', { silentMinutes: 60 }, []],
  ['silence for a minute less', { silentMinutes: 59 }, ['silent']],
  ['silence of VMs of that health', { silentMinutes: 10, health: ['failed', 'unresponsive'] }, ['silent']],
  ['silence of VMs of another health', { silentMinutes: 10, health: ['failed'] }, []],
  ['a tag by name', { tags: [{ name: 'env' }] }, ['quiet', 'two']],
  ['a tag with an empty value', { tags: [{ name: 'env', value: '' }] }, ['quiet']],
  ['a tag with a value', { tags: [{ name: 'site', value: 'a' }] }, ['silent', 'two']],
  ['a tag in another case', { tags: [{ name: 'Site', value: 'a' }] }, []],
  ['two tags', { tags: [{ name: 'site', value: 'a' }, { name: 'env' }] }, ['two']],
  [
    'the same tag twice',
    {
      tags: [
        { name: 'site', value: 'a' },
        { name: 'site', value: 'a' },
      ],
    },
    ['silent', 'two'],
  ],
  [
    'a tag with two values',
    {
      tags: [
        { name: 'site', value: 'a' },
        { name: 'site', value: 'b' },
      ],
    },
    [],
  ],
  ['a tag by name and with a value', { tags: [{ name: 'env' }, { name: 'env', value: 'prod' }] }, ['two']],
  ['a tag named like a key of every object', { tags: [{ name: '__proto__', value: 'a' }] }, []],
  ['a handler', { handler: 'Acme.Lab.Probe' }, ['UPPER', 'broken', 'two']],
  ['a handler in another case', { handler: 'acme.lab.probe' }, []],
  ['a handler and its version', { handler: 'Acme.Lab.Mount', version: '2.0.0.0' }, ['two']],
  ['a handler and the version of another extension', { handler: 'Acme.Lab.Probe', version: '2.0.0.0' }, []],
  ['a handler and the message of another extension', { handler: 'Acme.Lab.Mount', messageId: 'M1' }, []],
  ['a version and a message of one extension', { version: '1.0.*', messageId: 'M1' }, ['two']],
  ['a line of versions', { version: '1.*' }, ['UPPER', 'broken', 'two']],
  ['a line is not the beginning of a number', { version: '1.1.*' }, []],
  ['two versions', { version: '2.0.0.0,1.10.0.0' }, ['broken', 'two']],
  ['a version and a line of versions', { version: '2.*,1.10.0.0' }, ['broken', 'two']],
  ['older versions', { olderThan: '1.10.0.0' }, ['UPPER', 'two']],
  ['older versions, by number and not by letter', { olderThan: '1.9.0.0' }, ['UPPER', 'two']],
  ['older versions with fewer numbers', { olderThan: '1.10' }, ['UPPER', 'two']],
  ['versions older than a low one', { olderThan: '1' }, []],
  ['an older version of another handler', { handler: 'Acme.Lab.Mount', olderThan: '2' }, []],
  ['a reported version', { running: '1.9.0.0' }, ['broken']],
  ['a reported version and a goal version', { running: '1.9.0.0', version: '1.0.0.0' }, []],
  ['an extension', { extension: 'mount' }, ['two']],
  ['an extension with the state of another', { extension: 'calm', state: ['failed'] }, []],
  ['a state', { state: ['failed', 'disabled'] }, ['broken']],
  [
    'a handler whose worst state is',
    { handler: 'Acme.Lab.Probe', state: ['healthy'], worst: ['yes'] },
    ['UPPER', 'two'],
  ],
  ['a handler with a better state', { handler: 'Acme.Lab.Probe', worst: ['no'] }, ['broken']],
  ['a VM without a handler', { notHandler: 'Acme.Lab.Probe' }, ['quiet', 'silent', 'unseen']],
  [
    'a VM with one handler and without another',
    { handler: 'Acme.Lab.Probe', notHandler: 'Acme.Lab.Mount' },
    ['UPPER', 'broken'],
  ],
  ['a handler other than one', { otherHandler: 'Acme.Lab.Probe' }, ['two']],
  ['a handler other than all', { otherHandler: 'Acme.Lab.Probe,Acme.Lab.Mount' }, []],
  [
    'a handler other than some that no VM has',
    { otherHandler: 'Acme.Lab.None,Acme.Lab.Mount' },
    ['UPPER', 'broken', 'two'],
  ],
  [
    'the worst state of all handlers but one',
    { otherHandler: 'Acme.Lab.None', state: ['healthy'], worst: ['yes'] },
    ['UPPER', 'two'],
  ],
  ['without a tag', { notTags: [{ name: 'site' }] }, ['UPPER', 'broken', 'quiet', 'unseen']],
  ['a tag without one of its values', { tags: [{ name: 'env' }], notTags: [{ name: 'env', value: '' }] }, ['two']],
  ['a cause', { cause: ['exit', 'timeout'] }, ['broken']],
  ['a command and its exit code', { command: 'enable', exitCode: 51 }, ['broken']],
  ['a known command', { hasCommand: ['yes'] }, ['broken']],
  ['an unknown command', { hasCommand: ['no'], handler: 'Acme.Lab.Probe' }, ['UPPER', 'broken', 'two']],
  ['a failure with an unknown command', { hasCommand: ['no'], state: ['failed'] }, []],
  ['another exit code', { exitCode: -1 }, []],
  ['a handler and a message', { handler: 'Acme.Lab.Probe', messageId: 'M1' }, ['two']],
  ['a message', { hasMessage: ['yes'] }, ['broken', 'two']],
  ['no message', { hasMessage: ['no'] }, ['UPPER', 'broken']],
  ['a message or none', { hasMessage: ['yes', 'no'] }, everyEvaluated],
  ['a failure without a message', { hasMessage: ['no'], state: ['failed'] }, ['broken']],
  ['a missed deadline', { overdue: ['yes'] }, ['broken']],
  ['a missed deadline of a healthy extension', { overdue: ['yes'], state: ['healthy'] }, []],
  ['no missed deadline', { overdue: ['no'] }, ['UPPER', 'broken', 'two']],
  ['a state since a time', { stateAfter: ago(60).toISOString(), extension: 'calm' }, ['broken']],
  ['a state since before a time', { stateBefore: ago(60).toISOString() }, ['broken']],
  [
    'a state since between two times',
    { stateAfter: ago(61).toISOString(), stateBefore: ago(59).toISOString() },
    ['broken'],
  ],
  ['times of two extensions', { stateAfter: ago(60).toISOString(), stateBefore: ago(60).toISOString() }, []],
  ['silence since a time', { silentAfter: ago(60).toISOString() }, ['quiet']],
  ['silence since before a time', { silentBefore: ago(60).toISOString() }, ['silent']],
  [
    'health since a time',
    { sinceAfter: ago(30).toISOString(), health: ['unresponsive'] },
    ['quiet', 'silent', 'unseen'],
  ],
  ['health since before a time', { sinceBefore: ago(30).toISOString() }, ['broken']],
  ['a new health', { became: ['failed'] }, ['broken']],
  ['a new health, whatever came after', { became: ['degraded'] }, ['broken']],
  ['a new health in time', { became: ['degraded'], changedAfter: ago(1_200).toISOString() }, ['broken']],
  ['a new health at another time', { became: ['degraded'], changedAfter: ago(1_199).toISOString() }, []],
  ['an earlier health', { left: ['failed'] }, ['UPPER']],
  ['a change from one health to another', { left: ['degraded'], became: ['failed'] }, ['broken']],
  ['two changes of a VM', { left: ['healthy'], became: ['failed'] }, []],
  [
    'changes between two times',
    { changedAfter: ago(61).toISOString(), changedBefore: ago(59).toISOString() },
    ['UPPER'],
  ],
  ['a version that is the beginning of others', { version: '1.0' }, []],
  ['a condition of each kind', { q: 'two', health: ['healthy'], tags: [{ name: 'env' }], messageId: 'M2' }, ['two']],
];

describe.each(filters)('%s', (_, filter, expected) => {
  test('finds the same VMs as a whole and row by row', async () => {
    const source = fleetSource(coreFields, filter, now, 'health');
    expect(await namesOf(source, source.where)).toEqual(expected);
    expect(await namesOf(source, source.each)).toEqual(expected);
  });

  test('in every order, the streams contain each VM once', async () => {
    for (const sort of fleetSorts) {
      const source = fleetSource(coreFields, filter, now, sort);
      const matching = await namesOf(source, source.where);
      const streams = await Promise.all(
        source.streams.map((stream) => namesOf(source, sql`${stream} and ${source.streamCondition}`)),
      );
      expect(streams.flat().toSorted()).toEqual(matching);
      if (source.isAll) {
        const unchecked = await Promise.all(source.streams.map((stream) => namesOf(source, stream)));
        expect(unchecked.flat().toSorted()).toEqual(matching);
      }
    }
  });
});

test('older versions are those that `compareVersions` puts first, for 300 random versions', async () => {
  const next = randomFrom(7);
  const random = (below: number) => Math.floor(next() * below);
  const part = () => [random(3), random(12), random(2_147_483_648)][random(3)] ?? 0;
  const versionOf = () => Array.from({ length: 1 + random(4) }, part).join('.');
  const other = await testDatabase();
  const versions = [...new Map(Array.from({ length: 300 }, versionOf).map((one) => [versionKey(one), one])).values()];
  for (const version of versions) await givenVersion(other, { version });
  await insertFleet(
    other,
    now,
    versions.map((version) => ({ name: version, extensions: [{ name: 'probe', version }] })),
  );
  for (const olderThan of [...versions.slice(0, 40), ...Array.from({ length: 40 }, versionOf)]) {
    const { table, where } = fleetSource(coreFields, { olderThan }, now);
    const { rows } = await other.execute<{ name: string }>(sql`select h.name from ${table} where ${where}`);
    const expected = versions.filter((version) => compareVersions(version, olderThan) < 0);
    expect(rows.map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
  }
});

const everyName = [...everyEvaluated, 'new'].toSorted();

test.each<[string, FleetFilter, readonly string[]]>([
  ['without a condition', {}, everyName],
  ['by a part of their names', { q: 'e' }, ['UPPER', 'broken', 'new', 'quiet', 'silent', 'unseen']],
  ['by its id', { q: idOf(2) }, ['new']],
  ['by a tag, once the worker evaluated them', { q: 'new', tags: [{ name: 'site' }] }, []],
])('an order by name lists VMs that are not evaluated yet: %s', async (_, filter, expected) => {
  const source = fleetSource(coreFields, filter, now, 'name');
  expect(await namesOf(source, source.where)).toEqual(expected);
});

test.each<[FleetFilter, boolean]>([
  [{}, true],
  [{ health: [...vmHealths] }, true],
  [{ health: ['failed'] }, true],
  [{ silentMinutes: 10 }, false],
  [{ q: 'a' }, false],
  [{ handler: 'Acme.Lab.Probe' }, false],
])('%j matches every row: %s', (filter, isAll) => {
  expect(fleetSource(coreFields, filter, now, 'health')).toMatchObject({ isAll });
});

test.each<[string, FleetFilter, readonly string[]]>([
  ['no condition', {}, ['UPPER again', 'UPPER probe', 'broken calm', 'broken probe', 'two mount', 'two probe']],
  ['a condition on VMs', { health: ['failed'] }, ['broken calm', 'broken probe']],
  ['a condition on extensions', { state: ['failed'] }, ['broken probe']],
  ['both', { health: ['healthy'], handler: 'Acme.Lab.Mount' }, ['two mount']],
  ['a condition on changes', { became: ['progressing'] }, ['UPPER again', 'UPPER probe']],
])('the extensions that match %s', async (_, filter, expected) => {
  const { extensions } = fleetSource(coreFields, filter, now, 'health');
  const { rows } = await db.execute<{ name: string }>(sql`
    select h.name || ' ' || e.name as name from extension_health e join vm_health h using (vm_id) where ${extensions}
    order by h.name collate "C", e.name`);
  expect(rows.map(({ name }) => name)).toEqual(expected);
});

describe('order', () => {
  let ordered: Database;
  const names = ["a'b", 'a"b', 'a\\b', 'A', 'a', 'ä', 'b', 'ß', '東京', '😀', ' ', '%', '_', '1', '10', '2'];
  /** Some VMs share a time, and some times differ by a microsecond. */
  const times = ['12:00:00.000001', '12:00:00.000002', '12:00:00.000002', '12:00:00', '11:59:59.999999'];

  beforeAll(async () => {
    ordered = await testDatabase();
    await insertFleet(
      ordered,
      now,
      names.map((name, place) => ({
        name,
        health: vmHealths[place % 4] ?? null,
        since: `2026-03-01 ${times[place % times.length]}+00`,
      })),
    );
  });

  /** Reads a list one VM at a time, each time with the cursor from the previous page. */
  async function walk(sort: (typeof fleetSorts)[number], filter: FleetFilter = {}): Promise<string[]> {
    const source = fleetSource(coreFields, filter, now, sort);
    const order = fleetOrder(sort, source);
    const found: string[] = [];
    for (let after = sql`true`; found.length <= names.length; ) {
      const { rows } = await ordered.execute<{ id: string; keys: string[] }>(sql`
        select ${source.id} as id, ${order.keys} as keys from ${source.table}
        where ${source.where} and ${after} order by ${order.by} limit 1`);
      const [row] = rows;
      if (row === undefined) break;
      found.push(row.id);
      after = order.after(order.write(row.keys));
    }
    return found;
  }

  test.each(fleetSorts)('by %s, a cursor after each VM leads to the next, and skips none', async (sort) => {
    const source = fleetSource(coreFields, {}, now, sort);
    const { rows } = await ordered.execute<{ id: string }>(
      sql`select ${source.id} as id from ${source.table} order by ${fleetOrder(sort, source).by}`,
    );
    expect(await walk(sort)).toEqual(rows.map(({ id }) => id));
    expect(await walk(sort, { q: 'a' })).toHaveLength(5);
  });

  test('times that differ by a microsecond have an order, and equal times are ordered by id', async () => {
    const { rows } = await ordered.execute<{ id: string }>(
      sql`select vm_id as id from vm_health order by since, vm_id`,
    );
    const ids = rows.map(({ id }) => id);
    expect(await walk('since')).toEqual(ids);
    expect(await walk('-since')).toEqual(ids.toReversed());
  });

  test('a cursor remains valid when the filter changes', async () => {
    const plain = fleetOrder('name', fleetSource(coreFields, {}, now));
    const cursor = plain.write(['b', idOf(0)]);
    const filtered = fleetSource(coreFields, { health: ['failed'] }, now);
    const after = fleetOrder('name', filtered).after(cursor);
    const { rows } = await ordered.execute<{ name: string }>(
      sql`select h.name from ${filtered.table} where ${filtered.where} and ${after} order by h.name`,
    );
    expect(rows.map(({ name }) => name)).toEqual(['東京']);
  });
});

const cursorOf = (keys: unknown) => Buffer.from(JSON.stringify(keys)).toString('base64url');

test.each([
  ['name', ['name', 'a', idOf(1)], null],
  ['name', ['name', '', idOf(1)], null],
  ['since', ['since', '1772366400000001', idOf(1)], null],
  ['health', ['health', '0', 'a', idOf(1)], null],
  ['name', ['-name', 'a', idOf(1)], 'cursor_other_order'],
  ['health', ['since', '1', idOf(1)], 'cursor_other_order'],
  ['name', ['size', 'a', idOf(1)], 'cursor_invalid'],
  ['name', ['name', 'a'], 'cursor_invalid'],
  ['name', ['name', 'a', idOf(1), idOf(1)], 'cursor_invalid'],
  ['name', ['name', 'a', `${idOf(1)}'`], 'cursor_invalid'],
  ['name', ['name', 'a', 'A0000000-0000-4000-8000-000000000001'], 'cursor_invalid'],
  ['name', ['name', 'a\0', idOf(1)], 'cursor_invalid'],
  ['name', ['name', null, idOf(1)], 'cursor_invalid'],
  ['health', ['health', '10', 'a', idOf(1)], 'cursor_invalid'],
  ['health', ['health', '-1', 'a', idOf(1)], 'cursor_invalid'],
  ['since', ['since', '1'.repeat(18), idOf(1)], 'cursor_invalid'],
  ['since', ['since', '1.5', idOf(1)], 'cursor_invalid'],
  ['since', ['since', '2026-03-01', idOf(1)], 'cursor_invalid'],
  ['name', [], 'cursor_invalid'],
  ['name', { 0: 'name' }, 'cursor_invalid'],
  ['name', 'name', 'cursor_invalid'],
] as const)('in a list by %s, the cursor %j has the error %s', async (sort, keys, code) => {
  const source = fleetSource(coreFields, {}, now, sort);
  const read = () => fleetOrder(sort, source).after(cursorOf(keys));
  if (code !== null) return expect(read).toThrow(expect.objectContaining({ kind: 'bad_request', code }));
  await db.execute(sql`select from ${source.table} where ${read()}`);
});

test.each(['', '!', 'bm8', 'eyJ9', '[]'])('the text %j is not a cursor', (text) => {
  const order = fleetOrder('name', fleetSource(coreFields, {}, now));
  expect(() => order.after(text)).toThrow(expect.objectContaining({ kind: 'bad_request', code: 'cursor_invalid' }));
});
