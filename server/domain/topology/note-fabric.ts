import { sql } from 'drizzle-orm';
import { endpoints, endpointTraffic, fabricState } from '#db/schema/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import type { ListenerFault, MemberTraffic } from '#server/domain/topology-rules/fabric.ts';

/** Seconds after which a fabric that has noted nothing counts as stopped. It notes its state every 30 seconds. */
const aliveSeconds = 90;

/** What the fabric notes about its proxy. `traffic` is added to what is stored. */
export interface FabricNote {
  faults: readonly ListenerFault[];
  traffic: readonly MemberTraffic[];
}

/** Stores the state of the fabric’s proxy. Traffic of endpoints that were closed meanwhile is dropped. */
export async function noteFabric(ctx: Context, { faults, traffic }: FabricNote): Promise<void> {
  allow(ctx.actor, 'operator');
  await ctx.db.transaction(async (tx) => {
    const state = { seenAt: ctx.now, faults: [...faults] };
    await tx
      .insert(fabricState)
      .values({ id: 1, ...state })
      .onConflictDoUpdate({ target: fabricState.id, set: state });
    if (traffic.length === 0) return;
    const column = <T>(of: (one: MemberTraffic) => T) => sql.param(traffic.map(of));
    await tx.execute(sql`
      insert into ${endpointTraffic} (vm_id, protocol, public_port, connections, bytes)
      select e.vm_id, e.protocol, e.public_port, t.connections, t.bytes
      from unnest(${column(({ vmId }) => vmId)}::uuid[], ${column(({ protocol }) => protocol)}::text[],
        ${column(({ publicPort }) => publicPort)}::int[], ${column(({ connections }) => connections)}::bigint[],
        ${column(({ bytes }) => bytes)}::bigint[]) t (vm_id, protocol, public_port, connections, bytes)
      join ${endpoints} e on e.vm_id = t.vm_id and e.protocol = t.protocol and e.public_port = t.public_port
      for key share of e
      on conflict (vm_id, protocol, public_port) do update set
        connections = ${endpointTraffic}.connections + excluded.connections,
        bytes = ${endpointTraffic}.bytes + excluded.bytes`);
  });
}

/** Reads the state of the fabric’s proxy; null if the proxy is turned off or is not running. */
export async function readFabric({
  db,
  now,
  config,
}: Pick<Context, 'db' | 'now' | 'config'>): Promise<{ faults: ListenerFault[] } | null> {
  if (config.fabric.mode === 'off') return null;
  const [row] = await db.select().from(fabricState);
  if (row === undefined || now.getTime() - row.seenAt.getTime() > aliveSeconds * 1_000) return null;
  return { faults: row.faults };
}
