import { eq, sql } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database } from '#db/client.ts';
import { extensionHealth, healthTransitions, versionCounts, vmHealth } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { testServices } from '#server/testing/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { ingestReport } from '#server/testing/ingest.ts';
import { changesSince, markOf } from '#server/testing/records.ts';
import { clearHealth } from './clear-health.ts';
import { derive, selectExtensions } from './derive.ts';
import { dropHealth } from './drop-health.ts';
import { type FactsAsJson, factsAsJson, factsFromJson } from './facts-as-json.ts';
import { addToCounts, checkCounts, foldCounts, readFleetCounts } from './fleet-counts.ts';
import { foldHealth } from './fold-health.ts';
import { markAged, soonSeconds } from './mark-aged.ts';

let services: Services;
let db: Database;
const now = new Date('2030-06-15T12:30:00.000Z');
const dayMs = 24 * 60 * 60_000;
const ago = (days: number) => new Date(now.getTime() - days * dayMs);

beforeAll(async () => {
  services = await testServices();
  ({ db } = services);
  await givenVersion(db, { supportsMultipleExtensions: true });
});

describe('old transitions', () => {
  test('are deleted after the configured number of days, and newer transitions are kept', async () => {
    const { vmId } = await givenVm(services);
    const { health } = services.config.keptDays;
    const days = [health + 300, health + 1, health + 0.001, health, health - 0.001, 0];
    await db.insert(healthTransitions).values(days.map((day) => ({ at: ago(day), vmId, kind: 'health' as const })));
    expect(await clearHealth(services, now)).toBe(3);
    const left = await db.select().from(healthTransitions).where(eq(healthTransitions.vmId, vmId));
    expect(left.map(({ at }) => at)).toEqual([health, health - 0.001, 0].map(ago));
    expect(await clearHealth(services, now)).toBe(0);
  });
});

describe('the hourly counts of versions', () => {
  const at = (day: number, hour: number) => {
    const time = ago(day);
    time.setUTCHours(hour, 0, 0, 0);
    return time;
  };
  const write = (rows: [handler: string, version: string, hour: Date][]) =>
    db
      .insert(versionCounts)
      .values(rows.map(([handler, version, hour]) => ({ handler, version, hour, vms: 1, failed: 0 })));
  const left = async (handler: string) =>
    (
      await db
        .select()
        .from(versionCounts)
        .where(eq(versionCounts.handler, handler))
        .orderBy(versionCounts.hour, versionCounts.version)
    ).map(({ version, hour }) => `${version} ${hour.toISOString().slice(0, 13)}`);
  const named = (version: string, hour: Date) => `${version} ${hour.toISOString().slice(0, 13)}`;

  test('are kept for two weeks, then one hour of each day, the same for all versions', async () => {
    await write([
      ['Lab.Thin', '1.0', at(20, 8)],
      ['Lab.Thin', '1.0', at(20, 9)],
      ['Lab.Thin', '2.0', at(20, 9)],
      ['Lab.Thin', '1.0', at(20, 7)],
      ['Lab.Thin', '1.0', at(13, 8)],
      ['Lab.Thin', '1.0', at(13, 9)],
    ]);
    expect(await clearHealth(services, now)).toBe(2);
    expect(await left('Lab.Thin')).toEqual([
      named('1.0', at(20, 9)),
      named('2.0', at(20, 9)),
      named('1.0', at(13, 8)),
      named('1.0', at(13, 9)),
    ]);
  });

  test('do not contain a version that had no VMs in the hour that is kept', async () => {
    await write([
      ['Lab.Gone', '1.0', at(20, 8)],
      ['Lab.Gone', '2.0', at(20, 9)],
    ]);
    await clearHealth(services, now);
    expect(await left('Lab.Gone')).toEqual([named('2.0', at(20, 9))]);
  });

  test('are deleted after the configured number of days', async () => {
    const { counts } = services.config.keptDays;
    await write([
      ['Lab.Old', '1.0', at(counts + 1, 9)],
      ['Lab.Old', '1.0', at(counts - 1, 9)],
    ]);
    await clearHealth(services, now);
    expect(await left('Lab.Old')).toEqual([named('1.0', at(counts - 1, 9))]);
  });
});

async function reported(): Promise<GivenVm> {
  const vm = await givenVm(services);
  for (const name of ['disk', 'probe']) await vm.declare(name);
  await vm.deliver();
  const receivedAt = new Date();
  const file = [{ version: 1, timestampUTC: '2026-01-01T00:00:00Z', status: { status: 'success' } }];
  const report = {
    handlers: [{ extension: 'probe', version: '1.0.0.0', sequenceNumber: 1, state: 'enabled', output: 'long' }],
    statuses: [{ extension: 'probe', sequenceNumber: 1, ageSeconds: 1, file }],
    heartbeats: [{ extension: 'disk', ageSeconds: 2.5, file: [{ version: 1, heartbeat: { status: 'notready' } }] }],
  };
  await ingestReport(await vm.agent(receivedAt), { vmId: vm.vmId, report, receivedAt });
  return vm;
}

describe('the facts of lists', () => {
  test('as JSON give the same health as the facts of a page', async () => {
    const vms = [await reported(), await reported(), await givenVm(services)];
    const ids = vms.map(({ vmId }) => vmId);
    const { rows } = await db.$client.query<{ vm_id: string; extensions: FactsAsJson[] }>(factsAsJson, [ids]);
    expect(rows.map(({ vm_id }) => vm_id).sort()).toEqual(ids.slice(0, 2).sort());
    for (const { vm_id: vmId, extensions } of rows) {
      const full = await selectExtensions(db, sql`extensions.vm_id = ${vmId}`);
      const short = factsFromJson(vmId, extensions);
      expect(short.map(({ name }) => name)).toEqual(['disk', 'probe']);
      for (const [index, facts] of short.entries()) {
        expect(full[index]).toMatchObject(facts);
        expect(JSON.stringify(facts)).not.toContain('long');
        const agent = { status: 'ready', heartbeatSeconds: 60, statusSeconds: null } as const;
        const page = full[index];
        if (page === undefined) throw new Error('an extension is missing');
        for (const seconds of [0, 100, 400, 9_000]) {
          const time = new Date(Date.now() + seconds * 1000);
          expect(derive(facts, agent, time)).toEqual(derive(page, agent, time));
        }
      }
    }
  });
});

describe('the counts of the fleet', () => {
  test('add up the differences of many transactions, and omit differences of 0', async () => {
    await foldCounts(services);
    const before = await readFleetCounts(db);
    const add = (...added: [string, number][]) => db.transaction((tx) => addToCounts(tx, new Map(added)));
    await Promise.all([add(['failed', 2], ['healthy', 0]), add(['failed', -1]), add(['extensions', 3])]);
    const expected = { failed: (before.failed ?? 0) + 1, extensions: (before.extensions ?? 0) + 3 };
    expect(await readFleetCounts(db)).toMatchObject(expected);
    expect(await foldCounts(services)).toBe(3);
    expect(await readFleetCounts(db)).toMatchObject(expected);
    await add();
    expect(await foldCounts(services)).toBe(0);
    // The stored counts include a failed VM and three extensions that do not exist, so the check subtracts them.
    expect(await checkCounts(services, now)).toMatchObject({ failed: -1, extensions: -3 });
  });

  test('lose a deleted VM with its extensions, once', async () => {
    const vm = await reported();
    await foldHealth(services, new Date());
    const [row] = await db.select().from(vmHealth).where(eq(vmHealth.vmId, vm.vmId));
    const before = await readFleetCounts(db);
    const mark = await markOf(db);
    for (let turn = 0; turn < 2; turn++) await db.transaction((tx) => dropHealth(tx, vm.vmId, now));
    const after = await readFleetCounts(db);
    const word = row?.health ?? '';
    expect([(before[word] ?? 0) - (after[word] ?? 0), (before.extensions ?? 0) - (after.extensions ?? 0)]).toEqual([
      1, 2,
    ]);
    expect(await db.$count(extensionHealth, eq(extensionHealth.vmId, vm.vmId))).toBe(0);
    expect(await changesSince(db, mark)).toEqual([`fleet ${vm.vmId}`]);
    const left = await db
      .select()
      .from(healthTransitions)
      .where(eq(healthTransitions.vmId, vm.vmId))
      .orderBy(healthTransitions.id);
    expect(left.at(-1)).toMatchObject({ at: now, kind: 'health', extension: null, from: word, to: null });
  });
});

describe('a scan of the fleet', () => {
  const scan = (more: object = {}) => ({ since: null, now: new Date(), among: null, ...more });

  test('pauses after every step, and stops if the pause throws', async () => {
    const rests: number[] = [];
    const pace = { overMs: 1_000, rest: async (ms: number) => void rests.push(ms) };
    expect(await markAged(services, scan(), pace)).not.toBeNull();
    expect(rests.length).toBeGreaterThanOrEqual(2);
    expect(rests.at(-1)).toBe(0);
    for (const ms of rests) expect(ms).toBeLessThanOrEqual(50);
    const stopping = { overMs: 0, rest: () => Promise.reject(new Error('shutting down')) };
    await expect(markAged(services, scan(), stopping)).rejects.toThrow('shutting down');
    expect(await markAged(services, scan())).not.toBeNull();
  });

  test('of some VMs runs alongside a scan of all VMs, and finds what is about to age', async () => {
    const vm = await reported();
    const among = [vm.vmId];
    let inner: Awaited<ReturnType<typeof markAged>> | undefined;
    let other: Awaited<ReturnType<typeof markAged>> | undefined;
    const pace = {
      overMs: 0,
      rest: async () => {
        inner ??= await markAged(services, scan({ among }));
        other ??= await markAged(services, scan());
      },
    };
    await markAged(services, scan(), pace);
    expect(inner).toEqual({ marked: 0, soon: [] });
    expect(other).toBeNull();
    const { rows } = await db.$client.query<{ at: Date }>(
      'select next_expected_at as at from agent_presence where vm_id = $1',
      among,
    );
    const overdue = (rows[0]?.at.getTime() ?? 0) + 30_000;
    const at = (ms: number) =>
      markAged(services, scan({ among, since: new Date(overdue - 60_000), now: new Date(ms) }));
    expect(await at(overdue - soonSeconds * 1000 - 1)).toEqual({ marked: 0, soon: [] });
    expect(await at(overdue - 1)).toEqual({ marked: 0, soon: among });
    expect(await at(overdue + 1)).toMatchObject({ marked: 1 });
  });

  test('of no VM finds nothing', async () => {
    expect(await markAged(services, scan({ among: [] }))).toEqual({ marked: 0, soon: [] });
  });
});
