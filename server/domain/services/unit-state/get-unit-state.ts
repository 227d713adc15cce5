import { and, eq, isNotNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { holds, units } from '#db/schema/index.ts';
import type { UnitState } from '#protocol/unit-state.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { relationsOf } from '../relations/index.ts';
import { goalOf } from './goal-of.ts';
import { readUnitsVersion } from './read-stamp.ts';
import { readUnits } from './read-units.ts';

/** What an agent sends with its look at its units. */
export interface UnitLook {
  vmId: string;
  /** The epoch of what the agent holds; null if it holds nothing. */
  epoch: string | null;
  /** The clock up to which the agent holds each relation, such as `3:17,4:20`. */
  after: string;
  /** The machine's current boot; null if the agent does not send it. */
  boot: string | null;
}

/**
 * Returns what should be on a VM, with the stamp of this state, and notes that its agent has fetched these units.
 * Throws 400 `units_after_form`, 409 `units_on_hold`.
 */
export async function getUnitState(ctx: Context, look: UnitLook): Promise<{ state: UnitState; stamp: string }> {
  const { vmId, epoch, boot } = look;
  const clocks = parseAfter(look.after);
  const after = epoch === ctx.epoch ? clocks : new Map<number, number>();
  return ctx.db.transaction(async (tx) => {
    await rejectOnHold(tx, vmId);
    await noteLook(tx, ctx, vmId, boot);
    const stamp = `"${ctx.epoch}.${await readUnitsVersion(tx, vmId)}"`;
    const rows = await readUnits(tx, eq(units.vmId, vmId));
    const ids = rows.map(({ id }) => id);
    const relations = ids.length === 0 ? new Map() : await relationsOf(tx, ids, after);
    const goals = rows.map((row) => goalOf(row, relations.get(row.id) ?? []));
    return { stamp, state: { protocol: 1, vmId, epoch: ctx.epoch, units: goals } };
  });
}

/** Reads the clock of each relation in `3:17,4:20`. If a relation occurs several times, the last one counts. */
export function parseAfter(text: string): Map<number, number> {
  const clocks = new Map<number, number>();
  if (text === '') return clocks;
  for (const pair of text.split(',')) {
    const [, relation, clock] = /^([1-9]\d{0,14}):(\d{1,15})$/.exec(pair) ?? [];
    if (relation === undefined) throw new DomainError('bad_request', 'units_after_form');
    clocks.set(Number(relation), Number(clock));
  }
  return clocks;
}

/** During a hold, an agent continues with what it has. */
async function rejectOnHold(tx: Transaction, vmId: string): Promise<void> {
  const [held] = await tx
    .select({ since: holds.since })
    .from(holds)
    .where(and(eq(holds.vmId, vmId), isNotNull(holds.since)));
  if (held !== undefined) throw new DomainError('conflict', 'units_on_hold');
}

/** Notes the first fetch of each unit, and a new boot of the machine. From then on, removals wait for the agent. */
async function noteLook(tx: Transaction, ctx: Context, vmId: string, boot: string | null): Promise<void> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    update units n set agent_since = coalesce(n.agent_since, ${ctx.now.toISOString()}),
      machine_enrolled_at = coalesce(n.machine_enrolled_at, a.enrolled_at),
      record = case when ${boot}::text is null then n.record else n.record || jsonb_build_object('boot', ${boot}::text) end
      from agents a
     where a.vm_id = n.vm_id and n.vm_id = ${vmId} and n.removed_at is null
       and (n.agent_since is null or n.record ->> 'boot' is distinct from coalesce(${boot}::text, n.record ->> 'boot'))
    returning n.id`);
  if (rows.length > 0) await recordChange(tx, 'vm', vmId);
}
