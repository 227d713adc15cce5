import { type SQL, sql } from 'drizzle-orm';
import { healthTransitions } from '#db/schema/index.ts';

/**
 * Kinds of events of a VM: it failed, its agent stopped responding, it is healthy again after a failure, its agent
 * responds again.
 */
export const fleetEventKinds = ['failed', 'silent', 'recovered', 'back'] as const;
export type FleetEventKind = (typeof fleetEventKinds)[number];

/** SQL condition for the transitions `t` of VMs, not of extensions or heartbeats. */
export const isVmTransition = sql`t.extension is null and t.kind = 'health'`;

/**
 * SQL for the event kind of a VM's transition `t`; null if the transition is not an event. A recovering VM is usually
 * progressing or degraded for a while, so its health before that decides.
 */
export const fleetEventKind: SQL = sql`case
  when t."to" = 'failed' then 'failed'
  when t."to" = 'unresponsive' then 'silent'
  when t."from" = 'unresponsive' and t."to" is not null then 'back'
  when t."to" = 'healthy' and t."from" = 'failed' then 'recovered'
  when t."to" = 'healthy' and t."from" in ('progressing', 'degraded') and (
    select p."to" from ${healthTransitions} p
    where p.vm_id = t.vm_id and p.extension is null and p.kind = 'health' and p.at < t.at
      and p."to" not in ('progressing', 'degraded')
    order by p.at desc limit 1) = 'failed' then 'recovered' end`;

/**
 * SQL for the minute of a transition `t`. All transitions of one kind within one minute are listed as one event. The
 * filter `event=<kind>:<minute>` of VM lists selects the VMs of the event.
 */
export const eventMinute: SQL = sql`date_trunc('minute', t.at, 'UTC')`;

/** SQL for the ids of the VMs with an event of a kind in the minute that begins at `from`. */
export const vmsWithEvent = (kind: FleetEventKind, from: Date): SQL => sql`
  select t.vm_id from ${healthTransitions} t
  where ${isVmTransition} and t.at >= ${from.toISOString()}::timestamptz
    and t.at < ${from.toISOString()}::timestamptz + interval '1 minute' and ${fleetEventKind} = ${kind}`;
