import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentPresence, extensionHealth, vmHealth, vms } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { foldHealth } from '#server/domain/health/index.ts';
import { type ExtensionHealth, extensionHealths, rankOf, troubles } from '#server/domain/verdicts/index.ts';
import { exportFleet, getInstanceView, readFleetRows } from '#server/domain/views/index.ts';
import { getFleetMap, getMapCell } from '#server/domain/views/overview/index.ts';
import { rankSql } from '#server/domain/views/rank-sql.ts';
import { testContext } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { openRestDoor, type RestDoor } from '#server/testing/rest-door.ts';

let door: RestDoor;
let ctx: Context;
beforeAll(async () => {
  door = await openRestDoor();
  ctx = await testContext({ services: door.services, role: 'viewer' });
  await givenVersion(ctx.db, { reportHeartbeat: false, supportsMultipleExtensions: true });
});
afterAll(() => door.close());

type Chips = readonly { name: string; health: ExtensionHealth }[];
const words = (chips: Chips | undefined) => chips?.map(({ health }) => health);

async function exported(vmId: string): Promise<Chips | undefined> {
  for await (const page of await exportFleet(ctx, { q: vmId })) return page.find(({ id }) => id === vmId)?.extensions;
  return undefined;
}

async function onMap(vmId: string) {
  const { groupBy, revision } = await getFleetMap(ctx, { groupBy: 'none' });
  for (let index = 0; ; index += 1) {
    const { cell } = await getMapCell(ctx, { groupBy, revision, group: 0, index });
    if (cell === null) return undefined;
    if (cell.id === vmId) return cell.troubles.map(({ extension, health }) => ({ name: extension, health }));
  }
}

/**
 * Creates a VM with one extension in each health that a connected machine can have. Sorted by name, they are in reverse
 * order of severity.
 */
async function vmWithAll() {
  const vm = await givenVm(door.services);
  const now = new Date();
  await vm.declare('a', { state: 'disabled' });
  for (const name of ['b', 'c', 'd', 'e']) await vm.declare(name);
  await vm.deliver(now);
  await ctx.db
    .insert(agentPresence)
    .values({ vmId: vm.vmId, lastSeenAt: now, nextExpectedAt: new Date(now.getTime() + 60_000) });
  const base = { version: '1.0.0.0', sequenceNumber: 1 };
  const reported = (extension: string, status: string) => ({
    extension,
    sequenceNumber: 1,
    ageSeconds: 1,
    readSecondsAgo: 0,
    file: [{ version: 1, timestampUTC: now.toISOString(), status: { status } }],
  });
  const report = {
    handlers: [
      { ...base, extension: 'a', state: 'disabled' },
      ...['b', 'c', 'd'].map((extension) => ({ ...base, extension, state: 'enabled' })),
      { ...base, extension: 'e', state: 'failed', command: 'enable', exitCode: 1 },
    ],
    statuses: [reported('b', 'success'), reported('d', 'warning')],
  };
  await ingestReport(await vm.agent(now), { vmId: vm.vmId, report, receivedAt: now });
  await foldHealth(door.services, now);
  return vm.vmId;
}

test('list, page, map, REST and export sort the extensions of a VM in the same order', async () => {
  const vmId = await vmWithAll();
  const worstFirst = ['failed', 'degraded', 'progressing', 'healthy', 'disabled'];
  const fresh = { ...ctx, now: new Date() };
  const row = (await readFleetRows(fresh, { vmIds: [vmId] })).items[0];
  expect(words(row?.extensions)).toEqual(worstFirst);
  expect(words((await getInstanceView(fresh, { vmId })).extensions)).toEqual(worstFirst);
  const listed = await door.expect<{ items: { extensions: Chips }[] }>('listVms', {}, 200, { query: `?q=${vmId}` });
  expect(words(listed.items[0]?.extensions)).toEqual(worstFirst);
  const view = await door.expect<{ extensions: Chips }>('getInstanceView', { id: vmId }, 200);
  expect(words(view.extensions)).toEqual(worstFirst);
  expect(words(await exported(vmId))).toEqual(worstFirst);
  expect(words(await onMap(vmId))).toEqual(worstFirst.slice(0, 2));
});

const pairs = extensionHealths.flatMap((worse, at) =>
  extensionHealths.slice(at + 1).map((milder) => ({ worse, milder })),
);

test.each(pairs)('export and map show $worse before $milder', async ({ worse, milder }) => {
  const [vmId, now] = [randomUUID(), new Date()];
  await ctx.db.insert(vms).values({ id: vmId, name: vmId, tags: {}, createdAt: now, createdBy: 'test' });
  await ctx.db
    .insert(vmHealth)
    .values({ vmId, name: vmId, tags: {}, health: 'failed', rank: 0, agent: 'ready', since: now, deadlineAt: null });
  const row = { vmId, handler: 'Acme.Lab.Probe', goalVersion: '1.0.0.0', heartbeat: 'none' as const, since: now };
  await ctx.db.insert(extensionHealth).values([
    { ...row, name: 'a', health: milder },
    { ...row, name: 'b', health: worse },
  ]);
  expect(words(await exported(vmId))).toEqual([worse, milder]);
  expect(words(await onMap(vmId))).toEqual([worse, milder].filter((health) => troubles.includes(health)));
});

test('SQL and TypeScript rank every health in the same order', async () => {
  const { rows } = await ctx.db.execute<{ health: ExtensionHealth; rank: number }>(
    sql`select health, ${rankSql(sql`health`)} as rank from unnest(${sql.raw(`array['${extensionHealths.join("','")}']`)}) as u (health)`,
  );
  expect(rows.map(({ rank }) => rank)).toEqual(rows.map(({ health }) => rankOf(health)));
});
