import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { isStagedSql } from '../staging/slot.ts';
import { breakRelations } from './break-relations.ts';
import { type CausingRun, type Entering, joinUnits, type Moving, partUnits } from './move-units.ts';
import { raiseHeads } from './raise-heads.ts';
import type { NodeRef } from './sealed-node.ts';

/**
 * Adds a unit to the relations of its service, after its hook `start` ended with 0 (EN-34), and stores when it entered. A
 * unit in Staging enters relations that its service provides when its deployment is in Production.
 * Does nothing for a unit that is in relations or that leaves. Call it before the revision of the VM is raised.
 */
export async function enterRelations(
  tx: Transaction,
  ctx: Moving,
  unitId: string,
  run: CausingRun | null,
): Promise<void> {
  const { rows: entered } = await tx.execute<{ serviceId: string; vmId: string }>(sql`
    update units u set entered_at = coalesce(u.entered_at, ${ctx.now.toISOString()}::timestamptz)
     where u.id = ${unitId} and u.life = 'alive' and u.removed_at is null
       and not exists (select from relation_units p where p.unit_id = u.id)
    returning u.service_id as "serviceId", u.vm_id as "vmId"`);
  const [unit] = entered;
  if (unit === undefined) return;
  // A relation that is being added at the same time locks the service too, so that one of the two sees the other.
  await tx.execute(sql`select from services where id = ${unit.serviceId} for share`);
  const { rows } = await tx.execute<{ relationId: string; side: Entering['side'] }>(sql`
    select e.relation_id as "relationId", e.side from relation_endpoints e join relations r on r.id = e.relation_id
     where e.service_id = ${unit.serviceId} and r.life = 'alive' and r.removed_at is null
       and not (e.side = 'provides' and ${isStagedSql(sql`${unit.vmId}::uuid`)})`);
  if (rows.length === 0) return;
  const entering = rows.map(({ relationId, side }) => ({ relationId: Number(relationId), unitId, side }));
  await joinUnits(tx, ctx, entering, run);
  await raiseHeads(tx, ctx, [unit.vmId]);
}

/**
 * Makes others depart from units that begin to leave. Call it after the units' rows are `dying`, and before the
 * revision of their VMs is raised.
 */
export async function leaveRelations(tx: Transaction, ctx: Moving, unitIds: readonly string[]): Promise<void> {
  await partUnits(tx, ctx, unitIds);
}

/**
 * Ends the participation of units that are removed, even if they did not leave before. Returns the services with a
 * relation that ended.
 */
export async function forgetParticipants(
  tx: Transaction,
  ctx: Moving,
  unitIds: readonly string[],
): Promise<{ endedServices: string[] }> {
  if (unitIds.length === 0) return { endedServices: [] };
  await partUnits(tx, ctx, unitIds);
  const { rows } = await tx.execute<{ relationId: string; unitId: string }>(sql`
    select relation_id as "relationId", unit_id as "unitId" from relation_units
     where unit_id = any(${sql.param(unitIds)}::uuid[]) and state <> 'broken'`);
  return { endedServices: await breakRelations(tx, ctx, rows.map(nodeOf)) };
}

/** A hook of a relation that counts as done without a run: it has no file, or was skipped. */
interface DoneHook {
  hook: string;
  relationId: number;
  remoteUnit: string | null;
  /** The version of the member’s settings that the hook confirms. */
  version: number | null;
}

/**
 * Stores what a unit confirmed by hooks of relations without a run. Relations and units in which the unit does not take
 * part are left out. Returns the services with a relation that ended.
 */
export async function confirmRelationHooks(
  tx: Transaction,
  ctx: Moving,
  unitId: string,
  hooks: readonly DoneHook[],
): Promise<{ endedServices: string[] }> {
  const of = (event: string) => hooks.filter(({ hook }) => hook.endsWith(`-relation-${event}`));
  const joined = of('joined').map((one) => ({ ...one, version: null }));
  // If a batch has both, the later hook counts.
  const seen = new Map([...joined, ...of('changed')].map((one) => [`${one.relationId} ${one.remoteUnit}`, one]));
  await storeSeen(tx, ctx, unitId, [...seen.values()]);
  await dropSeen(tx, unitId, of('departed'));
  const broken = of('broken').map(({ relationId }) => ({ relationId, unitId }));
  return { endedServices: await breakRelations(tx, ctx, broken) };
}

async function storeSeen(tx: Transaction, { now }: Moving, unitId: string, hooks: readonly DoneHook[]): Promise<void> {
  if (hooks.length === 0) return;
  await tx.execute(sql`
    insert into relation_seen (relation_id, unit_id, remote_unit_id, version, at)
    select r.id, p.unit_id, m.unit_id, g.version, ${now.toISOString()}::timestamptz
      from ${givenHooks(hooks)} join relations r on r.id = g.relation_id
      join relation_units p on p.relation_id = r.id and p.unit_id = ${unitId} and p.state <> 'broken'
      join units u on u.model_id = r.model_id and u.name = g.remote_unit
      join relation_units m on m.relation_id = r.id and m.unit_id = u.id
    on conflict (relation_id, unit_id, remote_unit_id) do update set version = excluded.version, at = excluded.at`);
}

async function dropSeen(tx: Transaction, unitId: string, hooks: readonly DoneHook[]): Promise<void> {
  if (hooks.length === 0) return;
  await tx.execute(sql`
    delete from relation_seen s using ${givenHooks(hooks)}, relations r, units u
     where r.id = g.relation_id and u.model_id = r.model_id and u.name = g.remote_unit
       and s.relation_id = r.id and s.unit_id = ${unitId} and s.remote_unit_id = u.id`);
}

const givenHooks = (hooks: readonly DoneHook[]) => sql`
  unnest(${sql.param(hooks.map(({ relationId }) => relationId))}::bigint[],
    ${sql.param(hooks.map(({ remoteUnit }) => remoteUnit))}::text[],
    ${sql.param(hooks.map(({ version }) => version))}::int[]) as g (relation_id, remote_unit, version)`;

const nodeOf = ({ relationId, unitId }: { relationId: string; unitId: string }): NodeRef => ({
  relationId: Number(relationId),
  unitId,
});
