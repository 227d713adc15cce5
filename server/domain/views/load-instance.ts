import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import {
  agentPresence,
  agentProblems,
  agents,
  executions,
  extensionLatest,
  extensions,
  goalStateHeads,
  holds,
  pendingRestarts,
  secrets,
  vms,
} from '#db/schema/index.ts';
import { openStates } from '#protocol/executions/index.ts';
import type { StatusObject, WantedLanguage } from '#protocol/index.ts';
import { hasRole } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { needsReleaseSql, needsSecretsSql } from '#server/domain/goal-states/index.ts';
import { type ExtensionFacts, selectExtensions } from '#server/domain/health/index.ts';
import { findMessages, type Resources } from '#server/domain/localization/index.ts';
import type { RefusalCode } from '#server/domain/vms/index.ts';

/** How long a rejected call is shown, in milliseconds. */
const refusedForMs = 24 * 3_600_000;

const { incarnation, publishedAt, deliveredIncarnation, deliveredAt } = goalStateHeads;
const headColumns = { incarnation, publishedAt, deliveredIncarnation, deliveredAt };

/** Loads the facts about a VM and its agent. Throws 404 `vm_unknown`. */
export async function loadMachine(tx: Transaction, vmId: string, now: Date) {
  const since = new Date(now.getTime() - refusedForMs).toISOString();
  const [row] = await tx
    .select({
      vm: vms,
      head: headColumns,
      presence: agentPresence,
      agent: agents,
      held: holds,
      refusals: sql<{ code: RefusalCode; at: string; keptFrom: string | null }[]>`(
        select coalesce(json_agg(json_build_object('code', r.code, 'at', r.at, 'keptFrom',
            case when r.code = 'history_cleared' then
              coalesce((select min(h.at) from report_history h where h.vm_id = r.vm_id), r.at) end)
          order by r.at desc), '[]')
          from agent_refusals r where r.vm_id = ${vms.id} and r.at > ${since}::timestamptz)`,
      lane: { executionId: executions.id, name: executions.name, since: executions.begunAt, state: executions.state },
      restart: { since: pendingRestarts.since, requests: pendingRestarts.requests },
    })
    .from(vms)
    .leftJoin(goalStateHeads, eq(goalStateHeads.vmId, vms.id))
    .leftJoin(agentPresence, eq(agentPresence.vmId, vms.id))
    .leftJoin(agents, eq(agents.vmId, vms.id))
    .leftJoin(holds, eq(holds.vmId, vms.id))
    .leftJoin(pendingRestarts, eq(pendingRestarts.vmId, vms.id))
    .leftJoin(executions, and(eq(executions.vmId, vms.id), inArray(executions.state, [...openStates])))
    .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)));
  if (row === undefined) throw new DomainError('not_found', 'vm_unknown');
  return row;
}

/**
 * Loads the problems that the agent reported. Null if the caller is not an operator, because a message, like command
 * output, may contain part of a file.
 */
export async function loadProblems(tx: Transaction, ctx: Context, vmId: string) {
  if (!hasRole(ctx.actor, 'operator')) return null;
  return tx.select().from(agentProblems).where(eq(agentProblems.vmId, vmId));
}

/** Loads, for each extension of these VMs, the facts from which health is derived, and the complete latest reports. */
export async function loadRows(tx: Transaction, vmIds: readonly string[]) {
  const facts = await selectExtensions(tx, inArray(extensions.vmId, vmIds));
  const { vmId, name, dependsOn, changedBy } = extensions;
  const documents = await tx
    .select({
      vmId,
      name,
      dependsOn,
      changedBy,
      needsSecrets: needsSecretsSql,
      needsRelease: needsReleaseSql,
      latest: extensionLatest,
    })
    .from(extensions)
    .leftJoin(extensionLatest, and(eq(extensionLatest.vmId, extensions.vmId), eq(extensionLatest.name, name)))
    .leftJoin(secrets, and(eq(secrets.vmId, extensions.vmId), eq(secrets.id, extensions.secretId)))
    .leftJoin(goalStateHeads, eq(goalStateHeads.vmId, extensions.vmId))
    .where(inArray(extensions.vmId, vmIds));
  const keyOf = (row: { vmId: string; name: string }): string => `${row.vmId}/${row.name}`;
  const byKey = new Map(documents.map((row) => [keyOf(row), row]));
  return facts.map((fact) => ({ ...fact, whole: byKey.get(keyOf(fact)) }));
}

/** The facts about one extension, and its complete latest reports. */
export type InstanceRow = Awaited<ReturnType<typeof loadRows>>[number];

/** Returns the keys of the handler versions whose messages an extension can use, the running version first. */
export const versionKeys = (row: ExtensionFacts): string[] =>
  [...new Set([row.handlerState?.version ?? row.goalVersion, row.goalVersion])].map((v) => `${row.handler}-${v}`);

/** Loads the messages that the extensions' statuses and heartbeats refer to, by handler version. */
export async function loadMessages(
  tx: Transaction,
  rows: InstanceRow[],
  wanted: readonly WantedLanguage[],
): Promise<Map<string, Resources>> {
  const ids = new Map<string, { handler: string; version: string; ids: Set<string> }>();
  for (const row of rows) {
    const used = [...idsOf(row.whole?.latest?.status), row.whole?.latest?.heartbeat?.message?.reference?.id];
    for (const key of versionKeys(row)) {
      const version = key.slice(row.handler.length + 1);
      const requested = ids.get(key) ?? { handler: row.handler, version, ids: new Set<string>() };
      for (const id of used) if (id !== undefined) requested.ids.add(id);
      ids.set(key, requested);
    }
  }
  return findMessages(
    tx,
    [...ids.values()].map((requested) => ({ ...requested, ids: [...requested.ids] })),
    wanted,
  );
}

function idsOf(status: StatusObject | null | undefined): string[] {
  if (!status) return [];
  return [...(status.message ? [status.message.id] : []), ...status.substatus.flatMap(idsOf)];
}
