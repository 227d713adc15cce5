import { getTableColumns, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { rolloutSteps } from '#db/schema/index.ts';
import { release } from '#server/domain/reservations/index.ts';
import { holderOf, isOut } from './holder.ts';
import type { Pass, StepRow } from './pass.ts';

const columns = Object.entries(getTableColumns(rolloutSteps)).map(([key, { name }]) => ({ key, name }));
const changing = columns.filter(({ key }) => key !== 'vmId' && key !== 'rolloutId');

const updates = sql.join(
  changing.map(({ name }) => sql`${sql.identifier(name)} = excluded.${sql.identifier(name)}`),
  sql`, `,
);

/** Inserts or replaces steps of one rollout, and releases the VMs of those that are closed. */
export async function writeSteps(tx: Transaction, steps: readonly StepRow[]): Promise<void> {
  const [first] = steps;
  if (first === undefined) return;
  const rows = steps.map((step) =>
    Object.fromEntries(columns.map(({ key, name }) => [name, step[key as keyof StepRow]])),
  );
  await tx.execute(sql`
    insert into rollout_steps
    select * from json_populate_recordset(null::rollout_steps, ${JSON.stringify(rows)}::json)
    on conflict (vm_id, rollout_id) do update set ${updates}`);
  const closed = steps.filter((step) => !isOut(step)).map(({ vmId }) => vmId);
  await release(tx, holderOf(first.rolloutId), closed);
}

/** Writes the steps that the pass changed. */
export async function flushSteps(pass: Pass): Promise<void> {
  await writeSteps(pass.tx, [...pass.changed.values()]);
  pass.changed.clear();
}
