import type { Database } from '#db/client.ts';
import { sha256Hex } from '#server/platform/keys.ts';

/** The agent behind a credential, and the goal state in force for it. */
export interface AgentIdentity {
  vmId: string;
  vmName: string;
  /** First instance id seen with this credential; null until one was. */
  instanceId: string | null;
  /** Highest call counter that was written down. */
  counter: number;
  /** When that was; null before the first call. */
  lastSeenAt: Date | null;
  etag: string;
  /** How many log archives operators wait for. */
  logRequests: number;
  /** The newest of these. */
  newestLogRequest: string | null;
}

const byCredential = {
  name: 'agents-by-credential',
  text: `select a.credential_hash as hash, a.vm_id as "vmId", v.name as "vmName", a.instance_id as "instanceId",
                coalesce(p.counter, 0) as counter, p.last_seen_at as "lastSeenAt", h.etag,
                w.count as "logRequests", w.newest as "newestLogRequest"
           from agents a join vms v on v.id = a.vm_id join goal_state_heads h on h.vm_id = a.vm_id
           left join agent_presence p on p.vm_id = a.vm_id
           cross join lateral (
             select count(*)::int as count, (array_agg(l.id::text order by l.requested_at desc, l.id desc))[1] as newest
               from log_archives l where l.vm_id = a.vm_id and l.answered_at is null
                and l.requested_at > now() - interval '24 hours') w
          where a.credential_hash = any($1::text[])`,
};

/** The form in which a bearer's credential is stored; null where the header holds none. */
export function credentialHash(authorization: string | null): string | null {
  const credential = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization ?? '')?.[1];
  return credential === undefined ? null : sha256Hex(credential);
}

/** Finds whose credentials these are, by their hashes, in one statement; those of nobody or of a deleted VM are left out. */
export async function findAgents(db: Database, hashes: readonly string[]): Promise<Map<string, AgentIdentity>> {
  const { rows } = await db.$client.query<Omit<AgentIdentity, 'counter'> & { hash: string; counter: string }>({
    ...byCredential,
    values: [hashes],
  });
  return new Map(rows.map(({ hash, ...row }) => [hash, { ...row, counter: Number(row.counter) }]));
}

/** What a VM's agent has now; both null where the VM was deleted, or its agent's access was revoked. */
export interface AgentNews {
  vmId: string;
  /** Of a goal state that was published lately; empty where somebody asked for logs lately. */
  etag: string | null;
  /** Of a machine that enrolled lately. */
  credentialHash: string | null;
}

const newsSince = {
  name: 'agent-news',
  text: `select vm_id as "vmId", etag, null as "credentialHash" from goal_state_heads where published_at >= $1
         union all select vm_id, null, credential_hash from agents where enrolled_at >= $1
         union all select id, null, null from vms where deleted_at >= $1
         union all select vm_id, null, null from audit_entries where action = 'wire-access.revoke' and at >= $1
         union all select vm_id, '', null from log_archives where answered_at is null and requested_at >= $1`,
};

/** What agents must be told, by the times of the processes that wrote it: for who may have missed a wake-up. */
export async function listAgentNews(db: Database, since: Date): Promise<AgentNews[]> {
  const { rows } = await db.$client.query<AgentNews>({ ...newsSince, values: [since] });
  return rows;
}
