import type pg from 'pg';
import type { Services } from '#server/domain/context.ts';
import { checkCounts, countVersions, foldHealth } from '#server/domain/health/index.ts';
import { publishCatalogue, seedHandlers } from './catalogue.ts';
import { seededBy, writeFleet } from './fleet.ts';
import { writePast } from './past.ts';
import { markSamples, spreadHealth } from './spread-health.ts';

export class SeedError extends Error {
  override readonly name = 'SeedError';
}

export interface SeedOptions {
  vms: number;
  /** Number of extensions per VM. */
  extensions: number;
  /** Whether to add to the VMs of an earlier seed. If false, a second seed is rejected. */
  more: boolean;
  say(line: string): void;
}

/**
 * Keeps sorts and temporary tables in memory. Does not wait for the disk at commit, because lost data can be seeded
 * again.
 */
const settings = `set temp_buffers = '512MB'; set work_mem = '256MB'; set synchronous_commit = off`;

/** Fills the database with a fleet: handlers, VMs, goals, agents, reports, and health with its history. */
export async function seed(services: Services, { vms, extensions, more, say }: SeedOptions): Promise<void> {
  const timed = async (what: string, work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work();
    const seconds = (performance.now() - began) / 1000;
    say(`${what}: ${seconds.toFixed(1)} s`);
    return seconds;
  };
  const before = await seeded(services);
  if (before > 0 && !more) throw new SeedError(`${before} VMs of an earlier seed exist. Use --more to add ${vms}.`);
  const handlers = seedHandlers.slice(0, extensions);
  await timed('handlers published', () => publishCatalogue(services));
  const client = await services.db.$client.connect();
  try {
    await client.query(settings);
    const { epoch } = services;
    await withoutChecks(client);
    await timed(`${vms} VMs written, each with ${extensions} extensions`, () =>
      inOne(client, () => writeFleet(client, { vms, before, handlers, epoch, now: new Date() })),
    );
    await timed('statistics', () =>
      client.query('analyze vms, extensions, extension_latest, extension_pulse, agents, agent_presence'),
    );
    const now = new Date();
    await timed('health derived', async () => {
      await inOne(client, () => markSamples(client));
      await derive(services, client, 'select sample from seed_sorts');
      await inOne(client, () => spreadHealth(client, now));
      await client.query('analyze vm_health, extension_health, health_checks');
      await derive(services, client, 'select vm_id from seed_sorts');
    });
    await timed('past written', () => inOne(client, () => writePast(client, { handlers, vms, now })));
    await countVersions(services, new Date());
    await checkCounts(services, new Date());
    await client.query('analyze health_transitions, version_counts');
    const { rows } = await client.query<{ health: string; count: number }>(
      'select health, count(*)::int as count from vm_health group by health order by count desc',
    );
    say(rows.map(({ health, count }) => `${count} ${health}`).join(', '));
  } finally {
    // Closes the connection, which drops its temporary tables and settings.
    client.release(true);
  }
}

async function seeded({ db }: Services): Promise<number> {
  const { rows } = await db.$client.query<{ count: number }>(
    'select count(*)::int as count from vms where created_by = $1 and deleted_at is null',
    [seededBy],
  );
  return rows[0]?.count ?? 0;
}

async function inOne(client: pg.ClientBase, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  await work();
  await client.query('commit');
}

/**
 * Skips foreign key checks, which would make seeding take 50% longer. Rows are always written together with the rows
 * that they refer to.
 */
async function withoutChecks(client: pg.ClientBase): Promise<void> {
  await client.query('set session_replication_role = replica').catch((error: { code?: string }) => {
    // Only superusers may turn the checks off. For other users, seeding is slower.
    if (error.code !== '42501') throw error;
  });
}

/**
 * Derives health until all of these VMs have it. The portal's worker may derive the health of some of them at the same
 * time.
 */
async function derive(services: Services, client: pg.ClientBase, vmIds: string): Promise<void> {
  for (;;) {
    await foldHealth(services, new Date());
    const { rowCount } = await client.query(`${vmIds} except select vm_id from vm_health limit 1`);
    if (rowCount === 0) return;
  }
}
