import type pg from 'pg';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, type Services, systemOrigin } from '#server/domain/context.ts';
import { sha256Hex } from '#server/platform/keys.ts';
import { instanceOf } from '../load/agents.ts';

/** The plan of all executions that SQL queues, and its digest. */
export const plan = '{"FormatVersion":"2.0.0","Name":"Bench","Body":"return 1","Scripts":{}}';
export const planSha256 = sha256Hex(plan);

/** What a call of the portal itself needs. */
export type BenchServices = Services & Pick<Context, 'log'>;

/** Returns the context of a call that the portal itself makes now. */
export const systemContext = (services: BenchServices): Context => ({
  ...services,
  ...{ actor: systemActor, origin: systemOrigin, now: new Date(), requestId: 'bench' },
});

/** Returns the id of the n-th VM. */
export async function vmIdOf(client: pg.Pool, n: number): Promise<string> {
  const { rows } = await client.query<{ vm_id: string }>('select vm_id from agents where instance_id = $1', [
    instanceOf(n),
  ]);
  const [row] = rows;
  if (row === undefined) throw new Error(`no VM ${n}`);
  return row.vm_id;
}
