import { inArray, sql } from 'drizzle-orm';
import { agentPresence, agents, extensionHealth, goalStateHeads, vmHealth, vms } from '#db/schema/index.ts';
import { negotiate, type ReaderWishes, type WantedLanguage } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import type { Context } from '#server/domain/context.ts';
import { countFleet, type FleetFilter, fleetFilterInput, fleetOrder, fleetSource } from '#server/domain/fleet/index.ts';
import { parse } from '#server/domain/parse.ts';
import { bySeverity } from '#server/domain/verdicts/index.ts';
import { reasonOf, withTexts } from './reasons.ts';

const pageRows = 1_000;

/**
 * Yields all matching VMs, sorted by name, with the stored health that lists filter and sort by. Reads page by page, so
 * that a hundred thousand VMs are never in memory together. The activity log records the export, with its filter and
 * the number of VMs.
 */
export async function exportFleet(
  ctx: Context,
  input: FleetFilter,
  reader: ReaderWishes = {},
): Promise<AsyncGenerator<ExportedVm[]>> {
  allow(ctx.actor, 'viewer');
  const filter = parse(fleetFilterInput(ctx.fleetFields), input);
  const { matching } = await countFleet(ctx, filter);
  await ctx.db.transaction((tx) =>
    recordAudit(tx, ctx, {
      action: 'fleet.export',
      target: { kind: 'fleet', id: 'vms' },
      details: { count: matching, filter },
    }),
  );
  return pages(ctx, filter, negotiate(reader));
}

async function* pages(
  ctx: Context,
  filter: FleetFilter,
  wanted: readonly WantedLanguage[],
): AsyncGenerator<ExportedVm[]> {
  const source = fleetSource(ctx.fleetFields, filter, ctx.now);
  const order = fleetOrder('name', source);
  for (let cursor: string | null = null; ; ) {
    const after = cursor === null ? sql`true` : order.after(cursor);
    const { rows } = await ctx.db.execute<{ id: string; keys: string[] }>(sql`
      select ${source.id} as id, ${order.keys} as keys from ${source.table}
      where ${source.each} and ${after} order by ${order.by} limit ${pageRows}`);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield await load(
      ctx,
      rows.map(({ id }) => id),
      wanted,
    );
    cursor = order.write(last.keys);
    if (rows.length < pageRows) return;
  }
}

export type ExportedVm = Awaited<ReturnType<typeof load>>[number];

async function load(ctx: Context, ids: string[], wanted: readonly WantedLanguage[]) {
  const [machines, services] = await Promise.all([
    ctx.db
      .select({
        id: vms.id,
        name: vms.name,
        tags: vms.tags,
        createdAt: vms.createdAt,
        health: vmHealth.health,
        since: vmHealth.since,
        agent: vmHealth.agent,
        agentVersion: sql<string | null>`nullif(${agents.version}, '')`,
        os: agents.os,
        lastSeenAt: agentPresence.lastSeenAt,
        clockSkewSeconds: agentPresence.clockSkewSeconds,
        goalState: goalStateHeads.incarnation,
      })
      .from(vms)
      .leftJoin(vmHealth, sql`${vmHealth.vmId} = ${vms.id}`)
      .leftJoin(agents, sql`${agents.vmId} = ${vms.id}`)
      .leftJoin(agentPresence, sql`${agentPresence.vmId} = ${vms.id}`)
      .leftJoin(goalStateHeads, sql`${goalStateHeads.vmId} = ${vms.id}`)
      .where(inArray(vms.id, ids)),
    ctx.db.select().from(extensionHealth).where(inArray(extensionHealth.vmId, ids)),
  ]);
  const machineOf = new Map(machines.map((machine) => [machine.id, machine]));
  const servicesOf = Map.groupBy(services, ({ vmId }) => vmId);
  const extensionsOf = (id: string) => (servicesOf.get(id) ?? []).sort(bySeverity);
  const open = machines.flatMap(
    ({ id, health, agent }) =>
      (health && reasonOf({ id, health, isSilent: agent === 'unresponsive' }, extensionsOf(id))) ?? [],
  );
  const reasons = await withTexts(ctx, open, wanted);
  return ids.flatMap((id) => {
    const machine = machineOf.get(id);
    return machine === undefined ? [] : [{ ...machine, extensions: extensionsOf(id), reason: reasons.get(id) ?? null }];
  });
}
