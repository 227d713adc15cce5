import { and, asc, eq, inArray } from 'drizzle-orm';
import { agentPresence, extensionHealth, vmHealth } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import {
  type ExtensionHealth,
  type HealthCause,
  troubles as troubledHealths,
  type VmHealth,
} from '#server/domain/verdicts/index.ts';
import { type MapCellInput, mapCellInput } from '../input.ts';
import { rankSql } from '../rank-sql.ts';
import { idAt } from './fleet-map.ts';
import { readMapOrder } from './read-fleet-map.ts';

/** An extension's problem, shown in one line of the card. */
export interface Trouble {
  extension: string;
  handler: string;
  health: ExtensionHealth;
  cause: HealthCause | null;
  command: string | null;
  exitCode: number | null;
  messageId: string | null;
  waitsFor: string | null;
  deadlineAt: string | null;
}

/** The VM on the card that opens from the map. */
export interface MapCell {
  id: string;
  name: string;
  tags: Record<string, string>;
  health: VmHealth;
  since: string;
  /** Null if the agent has never called. */
  lastSeenAt: string | null;
  /** Extensions with problems, worst first; at most two. */
  troubles: Trouble[];
}

/**
 * Returns the VM at a position of the map. `isStale` means that the map must be read again, because VMs have been
 * added, removed, renamed or regrouped; a change of health alone does not count. The cell is null if the map is stale,
 * the VM was just deleted, or the group has no such position.
 */
export async function getMapCell(
  ctx: Context,
  input: MapCellInput,
): Promise<{ isStale: boolean; cell: MapCell | null }> {
  allow(ctx.actor, 'viewer');
  const { groupBy, revision, group, index } = parse(mapCellInput, input);
  const order = await readMapOrder(ctx, groupBy, revision);
  if (order === null) return { isStale: true, cell: null };
  const vmId = idAt(order, group, index);
  return { isStale: false, cell: vmId === null ? null : await readCell(ctx, vmId) };
}

async function readCell(ctx: Context, vmId: string): Promise<MapCell | null> {
  const [[vm], troubles] = await Promise.all([
    ctx.db
      .select({
        id: vmHealth.vmId,
        name: vmHealth.name,
        tags: vmHealth.tags,
        health: vmHealth.health,
        since: vmHealth.since,
        lastSeenAt: agentPresence.lastSeenAt,
      })
      .from(vmHealth)
      .leftJoin(agentPresence, eq(agentPresence.vmId, vmHealth.vmId))
      .where(eq(vmHealth.vmId, vmId)),
    ctx.db
      .select({
        extension: extensionHealth.name,
        handler: extensionHealth.handler,
        health: extensionHealth.health,
        cause: extensionHealth.cause,
        command: extensionHealth.command,
        exitCode: extensionHealth.exitCode,
        messageId: extensionHealth.messageId,
        waitsFor: extensionHealth.waitsFor,
        deadlineAt: extensionHealth.deadlineAt,
      })
      .from(extensionHealth)
      .where(and(eq(extensionHealth.vmId, vmId), inArray(extensionHealth.health, [...troubledHealths])))
      .orderBy(rankSql(extensionHealth.health), asc(extensionHealth.name))
      .limit(2),
  ]);
  if (vm === undefined) return null;
  return {
    ...vm,
    since: vm.since.toISOString(),
    lastSeenAt: vm.lastSeenAt?.toISOString() ?? null,
    troubles: troubles.map((trouble) => ({ ...trouble, deadlineAt: trouble.deadlineAt?.toISOString() ?? null })),
  };
}
