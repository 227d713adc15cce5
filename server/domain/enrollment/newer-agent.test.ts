import { eq, sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agents } from '#db/schema/index.ts';
import type { Context } from '#server/domain/context.ts';
import { listFleet } from '#server/domain/views/index.ts';
import { releaseVersion } from '#server/platform/release.ts';
import { type AgentDoor, givenAgent, openTestDoor } from '#server/testing/agent-door.ts';
import { newerAgentVersion, outdatedAgentSql } from './newer-agent.ts';

let ctx: Context;
let door: AgentDoor;
let vmId: string;
beforeAll(async () => {
  ({ ctx, door } = await openTestDoor());
  ({ vmId } = await givenAgent(ctx, door, 'machine'));
});
afterAll(() => door.close());

test.each([
  { name: 'annex-agent', version: '0.0.1', isOutdated: true },
  { name: 'annex-agent', version: '0.0', isOutdated: true },
  { name: 'annex-agent', version: releaseVersion, isOutdated: false },
  { name: 'annex-agent', version: `${releaseVersion}.0`, isOutdated: false },
  { name: 'annex-agent', version: '999.0.0', isOutdated: false },
  { name: 'annex-agent', version: '99.10.0', isOutdated: false },
  { name: 'annex-agent', version: 'built by hand', isOutdated: false },
  { name: 'another agent', version: '0.0.1', isOutdated: false },
])(
  '$name $version: outdated $isOutdated, in the rule, in SQL and in the list',
  async ({ name, version, isOutdated }) => {
    expect(newerAgentVersion({ name, version })).toBe(isOutdated ? releaseVersion : null);
    await ctx.db.update(agents).set({ name, version }).where(eq(agents.vmId, vmId));
    const { rows } = await ctx.db.execute<{ is: boolean }>(
      sql`select ${outdatedAgentSql(sql`a`)} as is from agents a where a.vm_id = ${vmId}`,
    );
    expect(rows[0]?.is).toBe(isOutdated);
    const { items } = await listFleet(ctx, { agentOutdated: [isOutdated ? 'yes' : 'no'] });
    expect(items.map(({ id, availableAgentVersion }) => [id, availableAgentVersion])).toEqual([
      [vmId, isOutdated ? releaseVersion : null],
    ]);
    const other = await listFleet(ctx, { agentOutdated: [isOutdated ? 'no' : 'yes'] });
    expect(other.items).toEqual([]);
  },
);
