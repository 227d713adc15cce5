import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { ExtensionContents } from '#db/schema/index.ts';
import type { MemberRequest } from './change.ts';

/** The contents of the goal states that changes declare again, by VM. A VM without such a goal state is absent. */
export type EarlierContents = ReadonlyMap<string, readonly ExtensionContents[]>;

/** Loads the contents of the goal states that changes declare again. Runs at most two statements. */
export async function loadEarlierContents(
  tx: Transaction,
  requests: readonly MemberRequest[],
): Promise<EarlierContents> {
  return new Map([...(await contentsByIncarnation(tx, requests)), ...(await contentsBefore(tx, requests))]);
}

type Contents = readonly (readonly [string, ExtensionContents[]])[];

async function contentsByIncarnation(tx: Transaction, requests: readonly MemberRequest[]): Promise<Contents> {
  const wanted = requests.flatMap(({ vmId, change }) =>
    change.kind === 'restore' ? [{ vmId, incarnation: change.incarnation }] : [],
  );
  if (wanted.length === 0) return [];
  const vmIds = sql.param(wanted.map(({ vmId }) => vmId));
  const incarnations = sql.param(wanted.map(({ incarnation }) => incarnation));
  const { rows } = await tx.execute<{ vm_id: string; contents: ExtensionContents[] }>(sql`
    select g.vm_id, g.contents
      from unnest(${vmIds}::uuid[], ${incarnations}::int[]) r (vm_id, incarnation)
      join goal_states g on g.vm_id = r.vm_id and g.incarnation = r.incarnation`);
  return rows.map(({ vm_id, contents }) => [vm_id, contents] as const);
}

/** Maximum number of goal states of a VM that are searched for different contents. */
const searchedStates = 50;

/** SQL for the declarations of the requested extensions in a goal state, without their sequence numbers. */
const declared = (contents: string) =>
  sql.raw(`(select jsonb_agg(e - 'sequenceNumber' order by e ->> 'name') from jsonb_array_elements(${contents}::jsonb) e
     where (r.handler is null or e ->> 'handler' = r.handler) and (r.name is null or e ->> 'name' = r.name))`);

/**
 * Loads the contents at a time or, without a time, the contents of the newest goal state in which the requested
 * extensions had other declarations than now.
 */
async function contentsBefore(tx: Transaction, requests: readonly MemberRequest[]): Promise<Contents> {
  const wanted = requests.flatMap(({ vmId, change }) =>
    change.kind === 'patch' && change.change.kind === 'revert' ? [{ vmId, ...change.change }] : [],
  );
  if (wanted.length === 0) return [];
  const vmIds = sql.param(wanted.map(({ vmId }) => vmId));
  const handlers = sql.param(wanted.map(({ handler }) => handler));
  const names = sql.param(wanted.map(({ extension }) => extension));
  const times = sql.param(wanted.map(({ asOf }) => asOf));
  const { rows } = await tx.execute<{ vm_id: string; contents: ExtensionContents[] }>(sql`
    select r.vm_id, g.contents
      from unnest(${vmIds}::uuid[], ${handlers}::text[], ${names}::text[], ${times}::timestamptz[])
        r (vm_id, handler, name, as_of)
      join goal_state_heads h on h.vm_id = r.vm_id
      join goal_states c on c.vm_id = h.vm_id and c.incarnation = h.incarnation
      cross join lateral (
        select p.contents from goal_states p
         where p.vm_id = r.vm_id
           and case when r.as_of is null
                    then p.incarnation between h.incarnation - ${searchedStates}::int and h.incarnation - 1
                         and ${declared('p.contents')} is distinct from ${declared('c.contents')}
                    else p.published_at <= r.as_of end
         order by p.incarnation desc limit 1) g`);
  return rows.map(({ vm_id, contents }) => [vm_id, contents] as const);
}
