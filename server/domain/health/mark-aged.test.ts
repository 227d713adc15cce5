import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { agentPresence, extensionPulse, extensions, vms } from '#db/schema/index.ts';
import type { StatusWord } from '#protocol/index.ts';
import { agentStatus } from '#server/domain/verdicts/index.ts';
import { testServices } from '#server/testing/context.ts';
import { givenVersion } from '#server/testing/handlers.ts';
import { derive, selectExtensions } from './derive.ts';
import { markAged } from './mark-aged.ts';
import { nextAgeing, nextFixedAgeing } from './next-ageing.ts';

const start = new Date('2026-03-01T12:00:00Z');
const after = (seconds: number) => new Date(start.getTime() + Math.round(seconds * 1000));

/** Returns a seeded random generator, so that failures can be reproduced. */
function dice(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
  const among = <T>(...values: readonly [T, ...T[]]): T => values[Math.floor(next() * values.length)] ?? values[0];
  /** Often returns whole seconds, so that times coincide with the limits of a scan. */
  const seconds = (from: number, to: number): number => {
    const exact = from + next() * (to - from);
    return among(Math.round(exact), Math.round(exact * 8) / 8);
  };
  return { among, seconds };
}

/** Creates VMs with one extension each, whose agents reported at various times. */
async function givenFleet(count: number) {
  const services = await testServices();
  const { db } = services;
  await givenVersion(db);
  const { among, seconds } = dice(7);
  const at = () => after(seconds(-900, 0));
  const ids = Array.from({ length: count }, (): string => randomUUID());
  await db.insert(vms).values(ids.map((id) => ({ id, name: id, tags: {}, createdAt: start, createdBy: 'test' })));
  await db.execute(sql`insert into health_checks select id, 'infinity' from vms`);
  await db.insert(extensions).values(
    ids.map((vmId) => ({
      vmId,
      name: 'probe',
      handler: 'Acme.Lab.Probe',
      requestedVersion: '1.0',
      version: among('1.0.0.0', '9.0.0.0'),
      state: among('enabled' as const, 'disabled' as const),
      autoUpgradeMinorVersion: true,
      dependsOn: [],
      timeouts: { install: 1, update: 2, enable: 4, disable: 8, uninstall: 16 },
      publicSettings: {},
      sequenceNumber: 1,
      changedAt: at(),
      changedBy: 'test',
    })),
  );
  const presences = ids.flatMap((vmId) => {
    const period = () => among(null, 1, 20, 600);
    const row = { vmId, lastSeenAt: at(), nextExpectedAt: at(), heartbeatSeconds: period(), statusSeconds: period() };
    return among([row], [row], [row], []);
  });
  await db.insert(agentPresence).values(presences);
  await db.insert(extensionPulse).values(
    ids.map((vmId) => ({
      vmId,
      name: 'probe',
      ...among(null, {
        heartbeatStatus: 'ready' as const,
        heartbeatReadAt: at(),
        heartbeatAgeSeconds: seconds(0, 700),
      }),
      ...among(null, {
        statusWord: among<StatusWord>('warning', 'success', 'error', 'transitioning'),
        statusSequence: 1,
        statusReadAt: at(),
        statusAgeSeconds: seconds(0, 700),
      }),
    })),
  );
  const facts = Map.groupBy(await selectExtensions(db, sql`true`), ({ vmId }) => vmId);
  const presenceOf = new Map(presences.map((row) => [row.vmId, row]));
  return { services, ids, facts: (id: string) => ({ own: facts.get(id) ?? [], presence: presenceOf.get(id) ?? null }) };
}

test('AZ-H3 AZ-S4 AZ-S6 scans find every VM that changed through time alone, and no other VM', async () => {
  const { services, ids, facts } = await givenFleet(400);
  const answer = (id: string, now: Date): string => {
    const { own, presence } = facts(id);
    const { heartbeatSeconds = null, statusSeconds = null } = presence ?? {};
    const status = agentStatus(presence, now);
    return JSON.stringify([
      status,
      own.map((each) => {
        const { staleFor, ...rest } = derive(each, { status, heartbeatSeconds, statusSeconds }, now);
        return [staleFor !== null, rest];
      }),
    ]);
  };
  let found = 0;
  let vain = 0;
  let soon: string[] = [];
  for (let from = 0; from < 900; from += 15) {
    const [since, now] = [after(from), after(from + 15)];
    await services.db.execute(sql`update health_checks set due_at = 'infinity'`);
    // Every second scan reads only the VMs that the previous scan returned as `soon`.
    const isAhead = from % 30 === 15;
    const scanned = await markAged(services, { since, now, among: isAhead ? soon : null });
    soon = scanned?.soon ?? [];
    const { rows } = await services.db.execute<{ vm_id: string }>(
      sql`select vm_id from health_checks where due_at = 'epoch'`,
    );
    const marked = new Set(rows.map((row) => row.vm_id));
    for (const id of ids) {
      const { own, presence } = facts(id);
      const fixed = nextFixedAgeing(own, presence, since);
      const isDue = marked.has(id) || (fixed !== null && fixed <= now);
      if (answer(id, since) !== answer(id, now)) expect(isDue, `${id} from ${from} on`).toBe(true);
      if (!marked.has(id)) continue;
      found += 1;
      // Extensions without heartbeats may be found too, because only the version's manifest says that they have none.
      const next = nextAgeing(
        own.map((each) => ({ ...each, optedIn: true })),
        presence,
        new Date(since.getTime() - 1),
      );
      expect(next?.getTime(), `${id} from ${from} on`).toBeLessThanOrEqual(now.getTime() + 1);
      if (answer(id, since) === answer(id, now)) vain += 1;
    }
  }
  expect(found).toBeGreaterThan(250);
  expect(vain).toBeLessThan(found / 2);
});

test('the first scan finds every VM that ever aged, and of two concurrent scans only one runs', async () => {
  const { services, ids, facts } = await givenFleet(60);
  const scan = { since: null, now: after(7_200), among: null };
  const [one, other] = await Promise.all([markAged(services, scan), markAged(services, scan)]);
  const silent = ids.filter((id) => facts(id).presence !== null);
  expect(Math.max(one?.marked ?? 0, other?.marked ?? 0)).toBeGreaterThanOrEqual(silent.length);
  const { rows } = await services.db.execute<{ vm_id: string }>(
    sql`select vm_id from health_checks where due_at = 'epoch'`,
  );
  expect(rows.map((row) => row.vm_id)).toEqual(expect.arrayContaining(silent));
});
