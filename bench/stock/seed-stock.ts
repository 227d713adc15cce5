import { hash, randomUUID } from 'node:crypto';
import pLimit from 'p-limit';
import { agents, stockAgents } from '#db/schema/index.ts';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { registerVm } from '#server/domain/enrollment/index.ts';
import { setExtension } from '#server/domain/goal-states/index.ts';
import { wireTokenHash } from '#server/domain/stock-agents/index.ts';
import type { OpenServices } from '#server/process/services.ts';
import { givenVersion } from '#server/testing/handlers.ts';

/** The id of a VM in stock mode, and its forwarder's token. */
export interface StockVm {
  vmId: string;
  token: string;
}

export const handler = { handler: 'Acme.Lab.Probe', version: '1.0.0.0' } as const;
const atOnce = 4;

/**
 * Creates VMs in stock mode with one extension each. Inserts the agents directly into the database, because creating
 * tenant keys for a thousand VMs takes minutes, and no key is needed here.
 */
export async function seedStock(services: OpenServices, count: number): Promise<StockVm[]> {
  const { db } = services;
  await givenVersion(db, { ...handler, reportHeartbeat: true });
  const limit = pLimit(atOnce);
  return Promise.all(Array.from({ length: count }, (_, n) => limit(() => seedOne(services, n))));
}

async function seedOne(services: OpenServices, n: number): Promise<StockVm> {
  const now = new Date();
  const ctx: Context = {
    ...services,
    ...{ actor: systemActor, origin: systemOrigin, now, requestId: randomUUID() },
  };
  const { id: vmId } = await registerVm(ctx, { name: `stock-${n}` });
  const token = `annex_wire_bench_${n}`;
  const machine = {
    name: 'WALinuxAgent',
    version: '',
    os: {},
    kind: 'stock' as const,
    certificate: '',
    thumbprint: '',
  };
  const credentialHash = wireTokenHash(vmId, token);
  const keyHash = hash('sha256', `stock ${n}`);
  await services.db.insert(agents).values({ vmId, ...machine, credentialHash, keyHash, enrolledAt: now });
  const tenantKey = Buffer.alloc(0);
  const granted = { grantedAt: now, grantedBy: ctx.actor.name, tenantKey, tenantKeyAt: now };
  await services.db.insert(stockAgents).values({ vmId, containerId: randomUUID(), ...granted });
  await setExtension(ctx, { vmId, name: 'probe', goal: { ...handler, state: 'enabled' } });
  return { vmId, token };
}
