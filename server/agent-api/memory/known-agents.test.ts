import { eq, sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { agents } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { revokeWireAccess } from '#server/domain/stock-agents/index.ts';
import type { Listener } from '#server/platform/wakes/index.ts';
import { testContext, testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { KnownAgents } from './known-agents.ts';

let services: Services;

beforeAll(async () => {
  services = await testServices();
});

/** Opens a cache of `most` agents. The test sends the wake-ups. */
function open(most: number) {
  const news: string[] = [];
  const ears: Listener[] = [];
  const known = new KnownAgents({
    db: services.db,
    wakes: {
      listen: (_, listener) => {
        ears.push(listener);
        return { close: async () => {} };
      },
    },
    clock: () => new Date(),
    most,
    onNews: (vmId) => news.push(vmId),
    onError: (error) => expect.unreachable(String(error)),
  });
  return { known, news, wakes: ears[0] as Listener };
}

async function newAgent(): Promise<{ vmId: string; hash: string }> {
  const { vmId } = await givenVm(services);
  const hash = vmId.replaceAll('-', '').repeat(2);
  await services.db.execute(sql`insert into agents (vm_id, credential_hash, certificate, thumbprint, key_hash, name,
    version, os, enrolled_at) values (${vmId}, ${hash}, '', '', ${vmId}, 'a', '1', '{}', '2026-01-01T12:00:00Z')`);
  return { vmId, hash };
}

test('a missed change reaches the held poll of a VM that was evicted', async () => {
  const { known, news, wakes } = open(1);
  wakes.back();
  const [held, other] = [await newAgent(), await newAgent()];
  await known.findByHash(held.hash);
  await known.findByHash(other.hash);
  expect(known.size).toBe(1);
  news.length = 0;
  wakes.back();
  await expect.poll(() => news).toContain(held.vmId);
  await known.close();
});

test('access that was revoked without a wake-up ends with the next lookup', async () => {
  const { known, wakes } = open(10);
  wakes.back();
  const { vmId, hash } = await newAgent();
  await services.db.update(agents).set({ kind: 'stock' }).where(eq(agents.vmId, vmId));
  await known.findByHash(hash);
  expect(known.findByHash(hash)).toMatchObject({ vmId });
  await revokeWireAccess(await testContext({ services, role: 'operator' }), { vmId });
  wakes.back();
  const refusal = async () => Promise.resolve(known.findByHash(hash)).catch((error: Error) => error.message);
  await expect.poll(refusal).toBe('credential_refused');
  await known.close();
});

test('changes are looked up after a reconnect, even during another lookup', async () => {
  const { known, wakes } = open(10);
  const looks = async (run: () => void) => {
    const { query } = services.db.$client;
    let count = 0;
    services.db.$client.query = ((...args: Parameters<typeof query>) => {
      count += 1;
      return Reflect.apply(query, services.db.$client, args);
    }) as typeof query;
    run();
    await known.close();
    await known.close();
    services.db.$client.query = query;
    return count;
  };
  expect(
    await looks(() => {
      wakes.back();
      wakes.lost();
      wakes.back();
    }),
  ).toBe(2);
});

test('with concurrent reads and wake-ups, every cached agent is correct and up to date', async () => {
  const { known, wakes } = open(8);
  wakes.back();
  const all = await Promise.all(Array.from({ length: 20 }, newAgent));
  const [written, etags] = [new Map<string, string>(), new Map<string, string>()];
  let seed = 11;
  const dice = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const change = async ({ vmId }: { vmId: string }, etag: string): Promise<void> => {
    written.set(vmId, etag);
    await services.db.execute(sql`update goal_state_heads set etag = ${etag} where vm_id = ${vmId}`);
    etags.set(vmId, etag);
    wakes.heard('annex_goal_states', vmId);
  };
  await Promise.all(all.map((agent, index) => change(agent, `"first ${index}"`)));
  for (let round = 0; round < 40; round += 1) {
    const changing = all.filter(() => dice(6) === 0).map((agent) => change(agent, `"${round} ${agent.vmId}"`));
    const calls = Array.from({ length: 12 }, async () => {
      const { vmId, hash } = all[dice(all.length)] as (typeof all)[number];
      const before = etags.get(vmId);
      const found = await known.findByHash(hash);
      expect(found.vmId).toBe(vmId);
      expect([before, written.get(vmId), null]).toContain(found.etag);
    });
    await Promise.all([...calls, ...changing]);
    const { vmId, hash } = all[dice(all.length)] as (typeof all)[number];
    expect((await known.findByHash(hash)).etag).toBe(etags.get(vmId));
  }
  const [gone] = all as [(typeof all)[number]];
  await services.db.delete(agents).where(eq(agents.vmId, gone.vmId));
  wakes.heard('annex_credentials', gone.vmId);
  await expect(async () => known.findByHash(gone.hash)).rejects.toThrow('credential_refused');
  await known.close();
});
