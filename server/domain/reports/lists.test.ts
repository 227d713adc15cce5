import { sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Actor, anonymous } from '#server/domain/actor.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { removeVm } from '#server/domain/vm-lifecycle/index.ts';
import { testActor, testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { outcomeOf } from '#server/testing/records.ts';
import { clearHistory } from './clear-history.ts';
import { listLatestReports } from './list-latest-reports.ts';
import { listReportHistory } from './list-report-history.ts';

let services: Services;
let operator: Context;
let vmId: string;
const unknownVm = '00000000-0000-4000-8000-000000000000';

/**
 * Stores the reports `probe 1` to `probe 6`, and `other 1`. All but `probe 5` and `probe 6` arrive in the same
 * millisecond, and `probe 3` and `probe 4` even in the same microsecond.
 */
beforeAll(async () => {
  services = await testServices();
  operator = await testContext({ services, role: 'operator' });
  vmId = (await givenVm(services)).vmId;
  const at = (micros: number) => sql`timestamptz '2026-01-01T12:00:00Z' + ${micros}::bigint * interval '1 microsecond'`;
  const rows = [
    [0, 'handler', 'probe', 1],
    [100, 'heartbeat', 'probe', 2],
    [200, 'status', 'probe', 3],
    [200, 'status', 'probe', 4],
    [300, 'handler', 'other', 1],
    [5_000, 'heartbeat', 'probe', 5],
    [9_000, 'status', 'probe', 6],
  ] as const;
  for (const [micros, kind, extension, n] of rows) {
    await services.db.execute(sql`insert into report_history (vm_id, at, kind, extension, sequence_number, current, document)
      values (${vmId}, ${at(micros)}, ${kind}, ${extension}, ${kind === 'heartbeat' ? null : n}, ${n !== 4}, ${JSON.stringify({ n })})`);
  }
});

type Input = Partial<Parameters<typeof listReportHistory>[1]>;
const list = (input: Input = {}, ctx = operator) => listReportHistory(ctx, { vmId, ...input });
const shown = ({ items }: Awaited<ReturnType<typeof list>>) =>
  items.map(({ extension, document }) => `${extension} ${document.n}`);
const all = ['probe 6', 'probe 5', 'other 1', 'probe 4', 'probe 3', 'probe 2', 'probe 1'];

describe('the history of reports', () => {
  test.each<[string, Input, string[]]>([
    ['everything, newest first', {}, all],
    ['of one extension', { extension: 'other' }, ['other 1']],
    ['of one kind', { kind: 'handler' }, ['other 1', 'probe 1']],
    ['of both', { kind: 'handler', extension: 'probe' }, ['probe 1']],
    ['of an extension that never reported', { extension: 'ghost' }, []],
    ['of a VM that does not exist', { vmId: unknownVm }, []],
  ])('%s', async (_, input, expected) => {
    const page = await list(input);
    expect(shown(page)).toEqual(expected);
    expect(page.nextCursor).toBeNull();
  });

  test.each([1, 2, 3, 6, 7, 200])(
    'has no gap and no duplicate in pages of %i, even within a millisecond',
    async (limit) => {
      const found: string[] = [];
      let pages = 0;
      for (let cursor: string | null | undefined; cursor !== null; pages += 1) {
        const page: Awaited<ReturnType<typeof list>> = await list({ limit, ...(cursor && { cursor }) });
        found.push(...shown(page));
        cursor = page.nextCursor;
      }
      expect(found).toEqual(all);
      expect(pages).toBe(Math.ceil(all.length / limit));
    },
  );

  test('shows everything in an entry, but no database columns', async () => {
    const [newest] = (await list({ limit: 1 })).items;
    expect(newest).toEqual({
      id: expect.any(Number),
      at: '2026-01-01T12:00:00.009Z',
      kind: 'status',
      extension: 'probe',
      sequenceNumber: 6,
      current: true,
      document: { n: 6 },
    });
  });

  const written = (keys: unknown) => Buffer.from(JSON.stringify(keys)).toString('base64url');
  test.each<[string, object, string]>([
    ['a VM that is not an ID', { vmId: 'web' }, 'unprocessable invalid; /vmId field_format'],
    ['an empty name', { extension: '' }, 'unprocessable invalid; /extension field_empty'],
    ['a name of 65 characters', { extension: 'x'.repeat(65) }, 'unprocessable invalid; /extension field_too_long'],
    ['an unknown kind', { kind: 'log' }, 'unprocessable invalid; /kind field_choice'],
    ['a page of none', { limit: 0 }, 'unprocessable invalid; /limit field_too_small'],
    ['a page of 201', { limit: 201 }, 'unprocessable invalid; /limit field_too_big'],
    ['a long cursor', { cursor: 'x'.repeat(201) }, 'unprocessable invalid; /cursor field_too_long'],
    ['a cursor that is none', { cursor: 'x' }, 'bad_request cursor_invalid'],
    ['a cursor of one key', { cursor: written(['1']) }, 'bad_request cursor_invalid'],
    ['a cursor of words', { cursor: written(['now', 'last']) }, 'bad_request cursor_invalid'],
    ['a cursor with SQL', { cursor: written(['1', '1) or true --']) }, 'bad_request cursor_invalid'],
    ['a cursor of 18 digits', { cursor: written(['1'.repeat(18), '1']) }, 'bad_request cursor_invalid'],
    ['a cursor of 17 digits', { cursor: written(['9'.repeat(17), '1']) }, 'done'],
  ])('%s: %s', async (_, input, expected) => {
    expect(await outcomeOf(list(input))).toBe(expected);
  });
});

describe('raw reports', () => {
  const callers: [string, Actor, string][] = [
    ['an operator', testActor('operator'), 'done'],
    ['an admin', testActor('admin'), 'done'],
    ['a viewer', testActor('viewer'), 'forbidden forbidden'],
    ['a publisher', testActor('publisher'), 'forbidden forbidden'],
    ['an anonymous caller', anonymous, 'unauthenticated unauthenticated'],
    [
      'the agent',
      { kind: 'agent', id: unknownVm, name: 'web', role: null, namespaces: [] },
      'forbidden factor_required',
    ],
  ];
  test.each(callers)('are available to %s: %s', async (_, actor, expected) => {
    const ctx = await testContext({ services, actor });
    expect(await outcomeOf(list({}, ctx))).toBe(expected);
    expect(await outcomeOf(listLatestReports(ctx, { vmId, extension: 'probe' }))).toBe(expected);
  });

  test('of a deleted VM are kept', async () => {
    const { vmId: gone } = await givenVm(services);
    await services.db.execute(sql`insert into report_history (vm_id, at, kind, extension, current, document)
      values (${gone}, now(), 'handler', 'probe', true, '{}')`);
    await removeVm(operator, { vmId: gone });
    expect((await list({ vmId: gone })).items).toHaveLength(1);
    expect(await listLatestReports(operator, { vmId: gone, extension: 'probe' })).toHaveLength(1);
  });
});

describe('the newest report of each kind', () => {
  test('omits reports that were stored but not shown', async () => {
    const found = await listLatestReports(operator, { vmId, extension: 'probe' });
    expect(found.map(({ kind, document, asRead }) => [kind, document.n, asRead])).toEqual([
      ['handler', 1, false],
      ['heartbeat', 5, false],
      ['status', 6, false],
    ]);
  });

  test.each<[string, object, string]>([
    ['a VM that is not an ID', { vmId: 'web' }, '/vmId field_format'],
    ['no extension', { extension: undefined }, '/extension field_missing'],
    ['an empty name', { extension: '' }, '/extension field_empty'],
    ['a name of 65 characters', { extension: 'x'.repeat(65) }, '/extension field_too_long'],
  ])('of %s is a fault by path', async (_, change, fault) => {
    const input = { vmId, extension: 'probe', ...change };
    expect(await outcomeOf(listLatestReports(operator, input))).toBe(`unprocessable invalid; ${fault}`);
  });
});

test('a history below its limit keeps everything', async () => {
  expect(await clearHistory(services, new Date())).toBe(0);
  expect((await list()).items).toHaveLength(all.length);
});
