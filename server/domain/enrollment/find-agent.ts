import type { Database } from '#db/client.ts';
import { sha256Hex } from '#server/platform/keys.ts';

/** The agent that a credential belongs to, and what a gateway needs to answer the agent's calls. */
export interface AgentIdentity {
  vmId: string;
  vmName: string;
  /** The first instance id used with this credential; null before the first call. */
  instanceId: string | null;
  /** The highest call counter that was stored. */
  counter: number;
  /** When the agent was last seen, as stored; null before the first call. */
  lastSeenAt: Date | null;
  /** ETag of the current goal state or, for a reference agent on hold, of the goal state that it has. */
  etag: string;
  /** Number of unanswered log requests of the last 24 hours. */
  logRequests: number;
  /** Id of the newest of these log requests; null if there is none. */
  newestLogRequest: string | null;
  /** Stamp and turn of the VM's oldest waiting execution; 0 if there is none or the VM is on hold. */
  executionStamp: number;
  executionTurn: number;
  /** Stamp of the execution that the machine has and should end; 0 if there is none. */
  cancelStamp: number;
  /** Revision of the VM's units: 0 if there are none, and -1 during a hold, when the agent gets no news of them. */
  unitsRevision: number;
  /** Sum of the clocks of the relations in which the VM's units take part, and the ids of these relations. */
  unitsClocks: number;
  relations: number[];
}

/**
 * SQL for the ETag of agent `a`, whose goal state has the head `h`. A held stock agent gets the held contents with a
 * new ETag (see `stock-agents`).
 */
const etagFor = `case when a.kind = 'stock' then h.etag else coalesce(h.held_etag, h.etag) end`;

const byCredential = {
  name: 'agents-by-credential',
  text: `select a.credential_hash as hash, a.vm_id as "vmId", v.name as "vmName", a.instance_id as "instanceId",
                coalesce(p.counter, 0) as counter, p.last_seen_at as "lastSeenAt", ${etagFor} as etag,
                w.count as "logRequests", w.newest as "newestLogRequest", coalesce(x.stamp, 0) as "executionStamp",
                coalesce(x.turn, 0) as "executionTurn", coalesce(c.stamp, 0) as "cancelStamp",
                case when h.held_etag is null then coalesce(u.revision, 0) else -1 end::float8 as "unitsRevision",
                coalesce(r.clocks, 0)::float8 as "unitsClocks", coalesce(r.ids, '{}') as relations
           from agents a join vms v on v.id = a.vm_id join goal_state_heads h on h.vm_id = a.vm_id
           left join agent_presence p on p.vm_id = a.vm_id
           cross join lateral (
             select count(*)::int as count, (array_agg(l.id::text order by l.requested_at desc, l.id desc))[1] as newest
               from log_archives l where l.vm_id = a.vm_id and l.answered_at is null
                and l.requested_at > now() - interval '24 hours') w
           left join lateral (
             select e.stamp, e.turn from executions e
              where e.vm_id = a.vm_id and e.state = 'queued' and e.channel = 'https' and h.held_etag is null
              order by e.turn limit 1) x on true
           left join lateral (
             select e.stamp from executions e
              where e.vm_id = a.vm_id and e.state in ('delivered', 'running', 'restarting')
                and e.cancel_asked_at is not null) c on true
           left join unit_heads u on u.vm_id = a.vm_id
           left join lateral (
             select sum(m.clock) as clocks, array_agg(m.id::float8) as ids from (
               select distinct t.id, t.clock from units n join relation_units p on p.unit_id = n.id
                 join relations t on t.id = p.relation_id
                where n.vm_id = u.vm_id and n.removed_at is null and p.state <> 'broken' and t.removed_at is null) m
           ) r on true
          where a.credential_hash = any($1::text[])`,
};

/** Returns the hash of the bearer credential, as stored; null if the header has none. */
export function credentialHash(authorization: string | null): string | null {
  const credential = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization ?? '')?.[1];
  return credential === undefined ? null : sha256Hex(credential);
}

type Numbers = 'counter' | 'executionStamp' | 'executionTurn' | 'cancelStamp';
/** A row as the driver returns it, with large numbers as strings. */
type Stored = Omit<AgentIdentity, Numbers> & { hash: string } & Record<Numbers, string>;

/**
 * Finds the agents for these credential hashes in one statement. Credentials that are unknown or belong to deleted VMs
 * are absent.
 */
export async function findAgents(db: Database, hashes: readonly string[]): Promise<Map<string, AgentIdentity>> {
  const { rows } = await db.$client.query<Stored>({ ...byCredential, values: [hashes] });
  return new Map(
    rows.map(({ hash, counter, executionStamp, executionTurn, cancelStamp, ...row }) => [
      hash,
      {
        ...row,
        counter: Number(counter),
        executionStamp: Number(executionStamp),
        executionTurn: Number(executionTurn),
        cancelStamp: Number(cancelStamp),
      },
    ]),
  );
}

/**
 * A change that concerns a VM's agent. Both `etag` and `credentialHash` are null if the VM was deleted or the agent's
 * access was revoked.
 */
export interface AgentNews {
  vmId: string;
  /**
   * The ETag for an agent whose goal state or hold changed. Empty if logs were requested, an execution was queued or
   * canceled, or units changed.
   */
  etag: string | null;
  /** Hash of the credential of a recently enrolled machine. */
  credentialHash: string | null;
}

const newsSince = {
  name: 'agent-news',
  text: `select h.vm_id as "vmId", ${etagFor} as etag, null as "credentialHash"
           from (select * from goal_state_heads where published_at >= $1) h left join agents a on a.vm_id = h.vm_id
         union all select h.vm_id, ${etagFor}, null
           from holds o join goal_state_heads h on h.vm_id = o.vm_id left join agents a on a.vm_id = h.vm_id
          where o.changed_at >= $1
         union all select vm_id, null, credential_hash from agents where enrolled_at >= $1
         union all select id, null, null from vms where deleted_at >= $1
         union all select vm_id, null, null from audit_entries where action = 'wire-access.revoke' and at >= $1
         union all select vm_id, '', null from log_archives where answered_at is null and requested_at >= $1
         union all select vm_id, '', null from executions where queued_at >= $1 or cancel_asked_at >= $1
         union all select vm_id, '', null from unit_heads where moved_at >= $1
         union all select n.vm_id, '', null from relations t join relation_units p on p.relation_id = t.id
           join units n on n.id = p.unit_id where t.moved_at >= $1 and n.removed_at is null and p.state <> 'broken'`,
};

/**
 * Returns the changes since a time, for a gateway that may have missed a wake-up. `since` is compared with the times
 * that the writing processes stored.
 */
export async function listAgentNews(db: Database, since: Date): Promise<AgentNews[]> {
  const { rows } = await db.$client.query<AgentNews>({ ...newsSince, values: [since] });
  return rows;
}
