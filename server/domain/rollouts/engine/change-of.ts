import { and, eq, inArray } from 'drizzle-orm';
import { rolloutSteps } from '#db/schema/index.ts';
import type { MemberChange } from '#server/domain/goal-states/index.ts';
import { hasLostSecrets, openGiven } from '../secrets.ts';
import type { Pass } from './pass.ts';

/** Returns what the rollout declares on each of these members. A member without an entry has nothing to restore. */
export async function changesOf(pass: Pass, vmIds: readonly string[]): Promise<Map<string, MemberChange>> {
  const { row, ctx } = pass;
  if (row.kind === 'revert' && row.of !== null) return restoresOf(pass, row.of, vmIds);
  // The rollout pauses before any member gets a change without its protected settings.
  if (hasLostSecrets(row)) return new Map();
  const given = openGiven(ctx, row);
  const change: MemberChange = {
    kind: 'patch',
    change: row.definition.change,
    ...(given !== undefined && { given, setBy: row.setBy }),
    automatic: row.kind === 'automatic',
  };
  return new Map(vmIds.map((vmId) => [vmId, change]));
}

/** The revert of a rollout restores what each member had before its step there. */
async function restoresOf({ tx }: Pass, of: string, vmIds: readonly string[]): Promise<Map<string, MemberChange>> {
  const steps = await tx
    .select({
      vmId: rolloutSteps.vmId,
      incarnation: rolloutSteps.beforeIncarnation,
      touched: rolloutSteps.touched,
    })
    .from(rolloutSteps)
    .where(and(inArray(rolloutSteps.vmId, [...vmIds]), eq(rolloutSteps.rolloutId, of)));
  return new Map(
    steps.flatMap(({ vmId, incarnation, touched }): [string, MemberChange][] => {
      if (incarnation === null || touched.length === 0) return [];
      const extensions = touched.map(({ name, sequenceNumber }) => ({ name, sequenceNumber }));
      return [[vmId, { kind: 'restore', incarnation, extensions }]];
    }),
  );
}
