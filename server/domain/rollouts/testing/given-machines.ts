import { vmHealth } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { type GivenVm, givenVm } from '#server/testing/fleet.ts';

/** Creates VMs that the VM list shows. */
export async function givenMachines(ctx: Context, count: number): Promise<GivenVm[]> {
  const machines: GivenVm[] = [];
  for (let n = 0; n < count; n += 1) machines.push(await givenVm(ctx));
  await ctx.db.insert(vmHealth).values(
    machines.map(({ vmId, name }) => ({
      ...{ vmId, name, tags: {}, since: ctx.now, health: 'unknown' as const, rank: 4, agent: 'never' as const },
    })),
  );
  return machines;
}

/** Reads every page of a list. Fails if a page repeats its own cursor. */
export async function allPages<T>(
  read: (cursor: string | undefined) => Promise<{ items: T[]; nextCursor: string | null }>,
): Promise<T[][]> {
  const pages: T[][] = [];
  for (let cursor: string | undefined; ; ) {
    const { items, nextCursor } = await read(cursor);
    pages.push(items);
    if (nextCursor === null) return pages;
    if (nextCursor === cursor) throw new Error('the page repeats its cursor');
    cursor = nextCursor;
  }
}
