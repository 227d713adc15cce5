import { and, eq, isNull } from 'drizzle-orm';
import { alias } from 'drizzle-orm/pg-core';
import type { Transaction } from '#db/client.ts';
import { hookRuns, services, units, type vmConcerns } from '#db/schema/index.ts';
import type { WantedLanguage } from '#protocol/index.ts';
import type { FailingHook } from '#server/domain/service-rules/stored.ts';
import type { ExplainedUnit, HealthCause } from '#server/domain/verdicts/index.ts';
import { readHookReasons } from './services/read-hook-reasons.ts';

/** The stored concern about the worst unit of a VM. */
export type UnitConcern = Pick<
  typeof vmConcerns.$inferSelect,
  'vmId' | 'subject' | 'health' | 'command' | 'exitCode' | 'since'
> & { cause: HealthCause | null };

/** What an explanation needs to know about the worst unit besides its health. */
export interface ConcernDetails {
  agentSince: Date | null;
  failure: ExplainedUnit['failure'];
  /** Why the hook failed, in the reader's language; null if it wrote no message. */
  message: { text: string; lang: string } | null;
}

/**
 * Reads when an agent first fetched the worst unit of a VM, and the failed attempts of the hook that is the cause, with
 * its message.
 */
export async function loadUnitFacts(
  tx: Transaction,
  { vmId, subject, command }: UnitConcern,
  wanted: readonly WantedLanguage[],
): Promise<ConcernDetails> {
  const [unit] = await tx
    .select({
      ...{ agentSince: units.agentSince, failing: units.failing, formula: services.formula },
      ...{ hook: hookRuns.hook, remoteUnit: remote.name, begunAt: hookRuns.begunAt },
    })
    .from(units)
    .innerJoin(services, eq(services.id, units.serviceId))
    .leftJoin(hookRuns, and(eq(hookRuns.vmId, units.vmId), eq(hookRuns.unitId, units.id), isRunning))
    .leftJoin(remote, eq(remote.id, hookRuns.remoteUnitId))
    .where(and(eq(units.vmId, vmId), eq(units.name, subject), isNull(units.removedAt)));
  const failure = Object.values(unit?.failing ?? {}).find(({ hook }) => hook === command);
  const failed = unit && failure ? [{ vmId, run: failure.run, formula: unit.formula }] : [];
  const [reason = null] = (await readHookReasons(tx, failed, wanted)).values();
  return {
    message: reason && { text: reason.text, lang: reason.lang },
    agentSince: unit?.agentSince ?? null,
    failure: failure === undefined ? null : { ...attemptsOf(failure), runningSince: runningSince(failure, unit) },
  };
}

const remote = alias(units, 'remote');
const isRunning = eq(hookRuns.outcome, 'running');

const attemptsOf = ({ failures, remoteUnit }: FailingHook) => ({ failures, remoteUnit: remoteUnit ?? null });

interface Running {
  hook: string | null;
  remoteUnit: string | null;
  begunAt: Date | null;
}

/** When the attempt of a failing hook began that runs now; null if it does not run. */
const runningSince = ({ hook, remoteUnit }: FailingHook, running: Running | undefined): string | null =>
  running?.hook === hook && running.remoteUnit === (remoteUnit ?? null)
    ? (running.begunAt?.toISOString() ?? null)
    : null;

/** Returns the worst unit of a VM as an explanation needs it. */
export const unitOf = ({
  subject,
  command,
  since,
  agentSince,
  ...rest
}: UnitConcern & ConcernDetails): ExplainedUnit => ({
  ...{ unit: subject, health: rest.health, cause: rest.cause, hook: command, exitCode: rest.exitCode },
  ...{ since: since.toISOString(), agentSince: agentSince?.toISOString() ?? null, failure: rest.failure },
});
