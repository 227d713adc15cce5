import { and, eq, isNull } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import { units, type vmConcerns } from '#db/schema/index.ts';
import type { ExplainedUnit, HealthCause } from '#server/domain/verdicts/index.ts';

type Concern = Pick<
  typeof vmConcerns.$inferSelect,
  'vmId' | 'subject' | 'health' | 'command' | 'exitCode' | 'since'
> & { cause: HealthCause | null };

/** What an explanation needs to know about the worst unit besides its health. */
interface UnitFacts {
  agentSince: Date | null;
  failure: ExplainedUnit['failure'];
}

/** Reads when an agent first fetched the worst unit of a VM, and the failed attempts of the hook that is the cause. */
export async function loadUnitFacts(tx: Transaction, { vmId, subject, command }: Concern): Promise<UnitFacts> {
  const [unit] = await tx
    .select({ agentSince: units.agentSince, failing: units.failing })
    .from(units)
    .where(and(eq(units.vmId, vmId), eq(units.name, subject), isNull(units.removedAt)));
  const failure = Object.values(unit?.failing ?? {}).find(({ hook }) => hook === command);
  return {
    agentSince: unit?.agentSince ?? null,
    failure: failure === undefined ? null : { failures: failure.failures, remoteUnit: failure.remoteUnit ?? null },
  };
}

/** Returns the worst unit of a VM as an explanation needs it. */
export const unitOf = ({ subject, command, since, agentSince, ...rest }: Concern & UnitFacts): ExplainedUnit => ({
  ...{ unit: subject, health: rest.health, cause: rest.cause, hook: command, exitCode: rest.exitCode },
  ...{ since: since.toISOString(), agentSince: agentSince?.toISOString() ?? null, failure: rest.failure },
});
