import { eq, sql } from 'drizzle-orm';
import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { agentPresence } from '#db/schema/index.ts';
import type { Services } from '#server/domain/context.ts';
import { testServices } from '#server/testing/context.ts';
import { givenVm } from '#server/testing/fleet.ts';
import { PresenceBook } from './presence-book.ts';

let services: Services;
const start = new Date('2026-01-01T12:00:00Z').getTime();
const later = (seconds: number): Date => new Date(start + seconds * 1000);
const newBook = () => new PresenceBook(services.db, (error) => expect.unreachable(String(error)));

beforeAll(async () => {
  services = await testServices();
});
afterEach(() => vi.useRealTimers());

async function newAgent(): Promise<string> {
  const { vmId } = await givenVm(services);
  await services.db.execute(sql`insert into agents (vm_id, credential_hash, certificate, thumbprint, key_hash, name,
    version, os, enrolled_at) values (${vmId}, ${vmId}, '', '', ${vmId}, 'a', '1', '{}', ${later(0).toISOString()})`);
  return vmId;
}

async function promiseOf(vmId: string): Promise<Date | undefined> {
  const [row] = await services.db.select().from(agentPresence).where(eq(agentPresence.vmId, vmId));
  return row?.nextExpectedAt;
}

test('the newer of two gateways’ polls sets when an agent is expected, whichever gateway writes first', async () => {
  for (const order of [
    [0, 1],
    [1, 0],
  ] as const) {
    const vmId = await newAgent();
    const books = [newBook(), newBook()] as const;
    books[0].saw({ vmId, at: later(1), nextExpectedAt: later(63), counter: 1 });
    await books[0].flush();
    books[0].saw({ vmId, at: later(2), nextExpectedAt: later(7), counter: 1, hungUp: true });
    books[1].saw({ vmId, at: later(2.1), nextExpectedAt: later(64), counter: 2 });
    for (const index of order) await books[index].flush();
    expect(await promiseOf(vmId)).toEqual(later(64));
    await Promise.all(books.map((book) => book.close()));
  }
});

test('while the database is slow, sightings use only one connection', async () => {
  const [slow, other] = [await newAgent(), await newAgent()];
  const first = newBook();
  first.saw({ vmId: slow, at: later(1), nextExpectedAt: later(31), counter: 1 });
  await first.close();
  const book = newBook();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const pool = services.db.$client;
  await services.db.transaction(async (tx) => {
    await tx.execute(sql`select from agent_presence where vm_id = ${slow} for update`);
    const held = pool.totalCount - pool.idleCount;
    for (let round = 2; round < 6; round += 1) {
      for (const vmId of [slow, other]) {
        book.saw({ vmId, at: later(round), nextExpectedAt: later(round + 30), counter: round });
      }
      await vi.advanceTimersByTimeAsync(1_000);
    }
    const waiting = sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await services.db.execute(waiting)).rowCount).toBe(1);
    expect(pool.totalCount - pool.idleCount - held).toBe(1);
  });
  vi.useRealTimers();
  await book.close();
  expect([await promiseOf(slow), await promiseOf(other)]).toEqual([later(35), later(35)]);
});
