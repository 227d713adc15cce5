import { sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import type { HolderKind } from '#db/schema/reservations.ts';
import { outOfServiceSql } from './groups.ts';

/** Who takes VMs out of service. The id is unique within its kind. */
export interface Holder {
  kind: HolderKind;
  id: string;
}

/** A VM that its holder wants to take out of service, with its disruption group. */
interface WantedVm {
  vmId: string;
  group: string;
}

interface ReservationTerms {
  /** The tag whose value is the group of VMs in no availability set. */
  tag: string;
  /**
   * How many VMs of a group may be out of service at a time, including those of other holders; null means any number.
   */
  limit: number | null;
  now: Date;
}

/**
 * Reserves VMs in the caller's transaction, in order. A VM is refused if it is reserved already, or if `limit` VMs of
 * its group are out of service. Concurrent requests wait for each other, so that they never exceed a limit together.
 * Returns the VMs that may be taken out of service until they are released.
 */
export async function reserve(
  tx: Transaction,
  { kind, id }: Holder,
  wanted: readonly WantedVm[],
  { tag, limit, now }: ReservationTerms,
): Promise<Set<string>> {
  if (wanted.length === 0) return new Set();
  const vmIds = wanted.map(({ vmId }) => vmId);
  const groups = wanted.map(({ group }) => group);
  // The order of the insert is the same for all holders, so that they do not deadlock.
  const { rows } = await tx.execute<{ vm_id: string }>(sql`
    with out_of_service as materialized (
      select o."group", count(*) as n from (${outOfServiceSql(tag)}) o group by o."group")
    insert into group_reservations (vm_id, disruption_group, place, holder_kind, holder_id, since)
    select a.vm_id, a."group",
        (select p from generate_series(0, ${limit}::int - 1) as p
          where not exists (
            select from group_reservations r where r.disruption_group = a."group" and r.place = p)
          order by p offset a.earlier limit 1),
        ${kind}, ${id}, ${now.toISOString()}::timestamptz
      from (
        select w.vm_id, w."group", w.n, row_number() over (partition by w."group" order by w.n) - 1 as earlier
          from unnest(${sql.param(vmIds)}::uuid[], ${sql.param(groups)}::text[]) with ordinality as w(vm_id, "group", n)
         where not exists (select from group_reservations r where r.vm_id = w.vm_id)) a
      left join out_of_service o on o."group" = a."group"
     where ${limit}::int is null or a.earlier + coalesce(o.n, 0) < ${limit}::int
     order by a."group", a.n
    on conflict do nothing returning vm_id`);
  return new Set(rows.map(({ vm_id }) => vm_id));
}

/** Hands VMs that one holder has reserved over to another one. */
export async function handOver(tx: Transaction, from: Holder, to: Holder, vmIds: readonly string[]): Promise<void> {
  if (vmIds.length === 0) return;
  await tx.execute(sql`
    update group_reservations set holder_kind = ${to.kind}, holder_id = ${to.id}
     where vm_id = any(${sql.param(vmIds)}::uuid[]) and holder_kind = ${from.kind} and holder_id = ${from.id}`);
}
