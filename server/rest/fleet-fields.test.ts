import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readAddress, writeAddress } from '#app/(portal)/vms/fleet-address.ts';
import { vmHealth, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import {
  coreFields,
  countFleet,
  type FleetFilter,
  fleetField,
  listFleetFacets,
  listFleetFields,
} from '#server/domain/fleet/index.ts';
import { exportFleet, listFleet } from '#server/domain/views/index.ts';
import { testContext } from '#server/testing/context.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';
import { fleetLines } from './download-fleet.ts';

/** A filter field, as another module would define it. */
const creator = fleetField({
  name: 'creator',
  parameter: 'by',
  label: 'filter.tag',
  description: 'The person who created the VM.',
  isSetByPeople: true,
  value: { kind: 'text', min: 1, max: 20 },
  of: 'vm',
  where: (value, { id }) => {
    const condition = sql`exists (select from vms c where c.id = ${id} and c.created_by = ${value})`;
    return [{ set: condition, row: condition }];
  },
  facet: {
    find: 'filter.find.tag',
    rows: ({ table, where, id }) => sql`
      select c.created_by as name, null::text as value, count(*)::int as n
      from vms c where c.id in (select ${id} from ${table} where ${where}) group by 1`,
  },
});

let door: RestDoor;
let ctx: Context;
const filter = { creator: 'Ada' } as FleetFilter;

beforeAll(async () => {
  door = await openRestDoor({ fleetFields: [...coreFields, creator] });
  ctx = await testContext({ services: door.services, role: 'viewer' });
  const created = { tags: {}, createdAt: ctx.now };
  const rows = [
    { ...created, id: '00000000-0000-4000-8000-000000000001', name: 'db-1', createdBy: 'Ada' },
    { ...created, id: '00000000-0000-4000-8000-000000000002', name: 'db-2', createdBy: 'Bob' },
    { ...created, id: '00000000-0000-4000-8000-000000000003', name: 'web-1', createdBy: 'Ada' },
  ];
  await ctx.db.insert(vms).values(rows);
  await ctx.db.insert(vmHealth).values(
    rows.map(({ id, name, tags }) => ({
      ...{ vmId: id, name, tags, since: ctx.now, health: 'unknown' as const, rank: 4, agent: 'never' as const },
    })),
  );
});
afterAll(() => door.close());

const names = (rows: readonly { name: string }[]) => rows.map(({ name }) => name);

test('a field of another module filters lists, counts and value menus', async () => {
  expect(names((await listFleet(ctx, filter)).items)).toEqual(['db-1', 'web-1']);
  expect(names((await listFleet(ctx, { ...filter, q: 'db', sort: '-since' })).items)).toEqual(['db-1']);
  expect(await countFleet(ctx, filter)).toEqual({ matching: 2 });
  const { items } = await listFleetFacets(ctx, { facet: 'by' });
  expect(items.map(({ name, count }) => [name, count])).toEqual([
    ['Ada', 2],
    ['Bob', 1],
  ]);
  await expect(listFleet(ctx, { creator: '' } as FleetFilter)).rejects.toMatchObject({ code: 'invalid' });
});

test('a field of another module filters exports and their files', async () => {
  const exported: string[] = [];
  for await (const page of await exportFleet(ctx, filter)) exported.push(...names(page));
  expect(exported).toEqual(['db-1', 'web-1']);
  const lines: string[] = [];
  for await (const line of fleetLines(ctx, new URLSearchParams('by=Bob'), 'jsonl')) lines.push(line);
  expect(lines.map((line) => JSON.parse(line).name)).toEqual(['db-2']);
});

test('a field of another module is in the URL of the list', async () => {
  const fields = await listFleetFields(ctx);
  expect(fields.at(-1)).toMatchObject({ name: 'creator', isSetByPeople: true, find: 'filter.find.tag' });
  const query = { filter: { ...filter, health: ['failed' as const] }, sort: '-since' as const };
  const address = writeAddress(fields, query);
  expect(address).toBe('health=failed&by=Ada&sort=-since');
  expect(readAddress(fields, new URLSearchParams(address))).toEqual({ query, ignored: [] });
  expect(readAddress(fields, new URLSearchParams(`by=${'x'.repeat(21)}`)).ignored).toEqual(['by']);
});

test('a field of another module is a parameter of the API', async () => {
  const listed = await door.call('GET', '/vms?by=Bob');
  expect(names((listed.body as { items: { name: string }[] }).items)).toEqual(['db-2']);
  const invalid = await door.call('GET', `/vms?by=${'x'.repeat(21)}`);
  expect(invalid.body).toMatchObject({ code: 'invalid', errors: [{ path: '?by', code: 'field_too_long' }] });
  const { body } = await door.call('GET', '/openapi.json', { as: null });
  const parameters: { name: string }[] = (
    body as { paths: Record<string, { get: { parameters: { name: string }[] } }> }
  ).paths['/vms']?.get.parameters as { name: string }[];
  expect(parameters.find(({ name }) => name === 'by')).toMatchObject({
    schema: { type: 'string', maxLength: 20, description: 'The person who created the VM.' },
  });
});

test('URLs keep every kind of value, and report what they ignore', async () => {
  const fields = await listFleetFields(ctx);
  const query = {
    filter: {
      q: 'a b',
      health: ['failed' as const, 'healthy' as const],
      tags: [{ name: 'a=%', value: 'b=c' }, { name: 'alone' }, { name: 'empty', value: '' }],
      version: '2.4.*',
      silentMinutes: 10,
    },
    sort: 'name' as const,
  };
  expect(readAddress(fields, new URLSearchParams(writeAddress(fields, query)))).toEqual({ query, ignored: [] });
  const wrong = new URLSearchParams('health=failed,ill&tag==x&tag=ok&version=x&silentMinutes=0&sort=size&handler=');
  expect(readAddress(fields, wrong)).toEqual({
    query: { filter: { health: ['failed'], tags: [{ name: 'ok' }] }, sort: 'health' },
    ignored: ['health', 'tag', 'version', 'silentMinutes', 'sort'],
  });
});
