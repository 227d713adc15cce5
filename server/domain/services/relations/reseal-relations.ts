import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { NodeDelta, SealedSettings } from '#server/domain/service-rules/stored.ts';
import type { Keys } from '#server/platform/keys.ts';
import { type NodeRef, resealValue } from './sealed-node.ts';

const atOnce = 500;

/** Encrypts the settings of all nodes, and their history, with the keys `to`. Returns the number of values. */
export async function resealRelations(tx: Transaction, from: Keys, to: Keys): Promise<number> {
  return (await resealNodes(tx, from, to)) + (await resealLog(tx, from, to));
}

async function resealNodes(tx: Transaction, from: Keys, to: Keys): Promise<number> {
  const { rows } = await tx.execute<{ relationId: string; unitId: string }>(sql`
    select relation_id as "relationId", unit_id as "unitId" from relation_units where settings <> '{}'`);
  let total = 0;
  for (const { relationId, unitId } of rows) {
    const at = sql`relation_id = ${relationId} and unit_id = ${unitId}`;
    const { rows: found } = await tx.execute<{ settings: SealedSettings }>(
      sql`select settings from relation_units where ${at} for update`,
    );
    const node: NodeRef = { relationId: Number(relationId), unitId };
    const resealed = Object.entries(found[0]?.settings ?? {}).map(([key, [sealed]]) => [
      key,
      resealValue(from, to, node, key, sealed),
    ]);
    const settings = JSON.stringify(Object.fromEntries(resealed));
    await tx.execute(sql`update relation_units set settings = ${settings}::jsonb where ${at}`);
    total += resealed.length;
  }
  return total;
}

interface LogRow extends Record<string, unknown> {
  relationId: string;
  clock: string;
  unitId: string;
  delta: NodeDelta;
}

async function resealLog(tx: Transaction, from: Keys, to: Keys): Promise<number> {
  let [total, last] = [0, { relationId: '0', clock: '0' }];
  for (;;) {
    const { rows } = await tx.execute<LogRow>(sql`
      select relation_id as "relationId", clock, unit_id as "unitId", delta from relation_log
       where (relation_id, clock) > (${last.relationId}::bigint, ${last.clock}::bigint) and delta <> '{}'
       order by relation_id, clock limit ${atOnce}`);
    const resealed = rows.map(({ relationId, clock, unitId, delta }) => {
      const node = { relationId: Number(relationId), unitId };
      const again = (key: string, sealed: string | null) => {
        if (sealed === null) return null;
        total += 1;
        return resealValue(from, to, node, key, sealed)[0];
      };
      const entries = Object.entries(delta).map(([key, [was, is]]) => [key, [again(key, was), again(key, is)]]);
      return { relation_id: relationId, clock, delta: Object.fromEntries(entries) };
    });
    await tx.execute(sql`
      update relation_log l set delta = r.delta
        from jsonb_to_recordset(${JSON.stringify(resealed)}::jsonb) as r (relation_id bigint, clock bigint, delta jsonb)
       where l.relation_id = r.relation_id and l.clock = r.clock`);
    const end = rows.at(-1);
    if (end === undefined || rows.length < atOnce) return total;
    last = end;
  }
}
