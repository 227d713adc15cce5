import { isDeepStrictEqual } from 'node:util';
import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { vmConcerns } from '#db/schema/index.ts';
import type { HealthCause, VmHealth } from '#server/domain/verdicts/index.ts';

export type VmConcernRow = Omit<typeof vmConcerns.$inferSelect, 'cause'> & { cause: HealthCause | null };

/** What impairs a VM besides its extensions: the worst of its units. */
export interface VmConcern {
  source: 'units';
  subject: string;
  formula: string | null;
  health: VmHealth;
  cause: HealthCause | null;
  /** The hook that failed, its exit code, and the message id of its reason. */
  command: string | null;
  exitCode: number | null;
  messageId: string | null;
  deadlineAt: Date | null;
}

/** A concern, or none, and when it may change through time alone. */
export interface FoundConcern {
  concern: VmConcern | null;
  changesAt: Date | null;
}

/** Reads what impairs VMs besides their extensions. VMs that nothing else impairs can be absent. */
export type ReadConcerns = (
  tx: Transaction,
  vmIds: readonly string[],
  now: Date,
) => Promise<ReadonlyMap<string, FoundConcern>>;

/** Reads the stored concerns of VMs. */
export async function storedConcerns(tx: Transaction, vmIds: readonly string[]): Promise<Map<string, VmConcernRow>> {
  const rows = await tx
    .select()
    .from(vmConcerns)
    .where(sql`${vmConcerns.vmId} = any(${sql.param(vmIds)}::uuid[])`);
  return new Map(rows.map((row) => [row.vmId, row as VmConcernRow]));
}

/** Returns the row to store for a concern. It keeps the time at which the VM's health because of it began. */
export function concernRow(
  vmId: string,
  concern: VmConcern | null,
  known: VmConcernRow | null,
  now: Date,
): VmConcernRow | null {
  if (concern === null) return null;
  return { vmId, ...concern, since: known?.health === concern.health ? known.since : now };
}

/** Whether a concern differs from the stored one. */
export const isOtherConcern = (row: VmConcernRow | null, known: VmConcernRow | null): boolean =>
  !isDeepStrictEqual(row && { ...row }, known && { ...known });

/** Writes the changed concerns of VMs, and deletes those that are null. */
export async function writeConcerns(
  tx: Transaction,
  changed: readonly { vmId: string; row: VmConcernRow | null }[],
): Promise<void> {
  const [kept, gone] = [changed.flatMap(({ row }) => row ?? []), changed.filter(({ row }) => row === null)];
  if (kept.length > 0) {
    await tx.execute(sql`
      insert into vm_concerns (vm_id, source, subject, formula, health, cause, command, exit_code, message_id, since,
        deadline_at)
      select * from json_to_recordset(${sql.param(JSON.stringify(kept))}::json) as r("vmId" uuid, source text,
        subject text, formula text, health text, cause text, command text, "exitCode" integer, "messageId" text, since timestamptz,
        "deadlineAt" timestamptz)
      on conflict (vm_id, source) do update set
        subject = excluded.subject, formula = excluded.formula, health = excluded.health, cause = excluded.cause, command = excluded.command,
        exit_code = excluded.exit_code, message_id = excluded.message_id, since = excluded.since,
        deadline_at = excluded.deadline_at`);
  }
  if (gone.length > 0) {
    await tx.execute(sql`
      delete from vm_concerns where vm_id = any(${sql.param(gone.map(({ vmId }) => vmId))}::uuid[])`);
  }
}
