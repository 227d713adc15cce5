import type { Database } from '#db/client.ts';
import { DomainError } from '#server/domain/error.ts';
import { sha256Hex } from '#server/platform/keys.ts';

/** The agent behind a credential. */
export interface AgentIdentity {
  vmId: string;
  vmName: string;
  /** First instance id seen with this credential; null until one was. */
  instanceId: string | null;
  /** Highest call counter that was written down. */
  counter: number;
}

const statement = {
  name: 'agent-by-credential',
  text: `select a.vm_id as "vmId", v.name as "vmName", a.instance_id as "instanceId", coalesce(p.counter, 0) as counter
           from agents a join vms v on v.id = a.vm_id left join agent_presence p on p.vm_id = a.vm_id
          where a.credential_hash = $1`,
};

/** Finds whose credential it is, in the database each time: a deleted VM's is dead at once. Throws 401 `credential_refused`. */
export async function authenticateAgent(db: Database, authorization: string | null): Promise<AgentIdentity> {
  const credential = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(authorization ?? '')?.[1];
  if (credential) {
    const { rows } = await db.$client.query<Omit<AgentIdentity, 'counter'> & { counter: string }>({
      ...statement,
      values: [sha256Hex(credential)],
    });
    const [row] = rows;
    if (row) return { ...row, counter: Number(row.counter) };
  }
  throw new DomainError('unauthenticated', 'credential_refused');
}
