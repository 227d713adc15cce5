import { canonicalLanguage, negotiate } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import { isoOrNull as iso } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { newerAgentVersion } from '#server/domain/enrollment/index.ts';
import { storedConcerns } from '#server/domain/health/index.ts';
import { type Hold, holdOf } from '#server/domain/holds/index.ts';
import { parse } from '#server/domain/parse.ts';
import { listSeries } from '#server/domain/retries/index.ts';
import {
  agentStatus,
  bySeverity,
  type Explanation,
  evaluateVmHealth,
  explain,
  explainUnit,
  rankOf,
} from '#server/domain/verdicts/index.ts';
import type { RefusalCode } from '#server/domain/vms/index.ts';
import type { Limits } from '#server/platform/limits.ts';
import { findAvailableUpdates } from './available-updates.ts';
import { instanceOf, reportedLength, speaker } from './extension-instance.ts';
import { type InstanceViewInput, instanceViewInput } from './input.ts';
import type { AgentRefusal, AgentView, InstanceView } from './instance-view.ts';
import { loadMachine, loadMessages, loadProblems, loadRows } from './load-instance.ts';
import { type ConcernDetails, loadUnitFacts, type UnitConcern, unitOf } from './load-unit-facts.ts';
import { openProblems } from './open-problems.ts';
import { distributeBytes } from './view-bytes.ts';

/**
 * Returns a VM's goal together with its reports, in the caller's language; a malformed `Accept-Language` header is not
 * an error. Verdicts, health and messages are derived from stored facts on each call (AZ-H3, AZ-L2, AZ-S6). Throws 404
 * `vm_unknown`.
 */
export async function getInstanceView(ctx: Context, input: InstanceViewInput): Promise<InstanceView> {
  allow(ctx.actor, 'viewer');
  const { vmId, acceptLanguage, chosenLanguage } = parse(instanceViewInput, input);
  const wanted = negotiate({ acceptLanguage, chosenLanguage });
  // One snapshot, so that the goal and the reports match.
  const { machine, rows, problems, updates, retries, resources, units } = await ctx.db.transaction(
    async (tx) => {
      const machine = await loadMachine(tx, vmId, ctx.now);
      const rows = await loadRows(tx, [vmId]);
      const problems = await loadProblems(tx, ctx, vmId);
      const retries = await listSeries(tx, vmId);
      const updates = (await findAvailableUpdates(tx, [vmId])).get(vmId);
      const concern = (await storedConcerns(tx, [vmId])).get(vmId) ?? null;
      const units = concern && { ...concern, ...(await loadUnitFacts(tx, concern, wanted)) };
      return { machine, rows, problems, updates, retries, units, resources: await loadMessages(tx, rows, wanted) };
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
  const { vm, head, presence, agent, held, refusals, restart, lane } = machine;
  const status = agentStatus(presence, ctx.now);
  const languages = new Set<string>();
  const unitLanguage = units?.message ? canonicalLanguage(units.message.lang) : null;
  if (unitLanguage !== null) languages.add(unitLanguage);
  const instances = distributeBytes(rows, reportedLength, (row, share) => {
    const say = speaker(resources, row, wanted, { languages, share });
    const updateAvailable = updates?.get(row.name) ?? null;
    const instance = instanceOf(ctx, row, { ...presence, status }, retries.get(row.name) ?? null, { say, share });
    return { ...instance, updateAvailable };
  });
  const view = {
    vmId,
    name: vm.name,
    incarnation: head?.incarnation ?? 0,
    publishedAt: iso(head?.publishedAt),
    deliveredIncarnation: head?.deliveredIncarnation ?? 0,
    deliveredAt: iso(head?.deliveredAt),
    agent: {
      status,
      lastSeenAt: iso(presence?.lastSeenAt),
      nextExpectedAt: iso(presence?.nextExpectedAt),
      kind: agent?.kind ?? null,
      name: agent?.name ?? null,
      version: agent?.version || null,
      availableVersion: agent ? newerAgentVersion(agent) : null,
      clockSkewSeconds: presence?.clockSkewSeconds ?? null,
      enrolledAt: iso(agent?.enrolledAt),
      duplicateSeenAt: iso(agent?.duplicateSeenAt),
      refusals: refusals.map((refusal) => shownRefusal(refusal, ctx.config.limits.vm)),
      hold: shownHold(holdOf(held)),
      ...(problems && {
        problems: openProblems(
          problems,
          rows,
          { deliveredAt: head?.deliveredAt ?? null, restartPending: restart !== null },
          ctx.now,
        ).map(({ about, message, at }) => ({ about, message, at: at.toISOString() })),
      }),
    },
    extensions: instances.toSorted(bySeverity),
    pendingRestart: restart && { since: restart.since.toISOString(), requests: restart.requests },
    units: units && shownUnits(units),
    health: evaluateVmHealth(
      status,
      [...instances, ...(units === null ? [] : [units])].map(({ health }) => health),
    ),
    languages: [...languages],
  };
  const since = iso(lane?.since);
  const taken =
    lane === null || since === null
      ? null
      : { executionId: lane.executionId, name: lane.name, since, isRestarting: lane.state === 'restarting' };
  const explained = { ...view, lane: taken };
  return {
    ...view,
    explanation: worstOf(view, explain(explained, ctx.now), units && explainUnit(explained, unitOf(units))),
  };
}

/** Returns the explanation of a unit if no extension needs one, or if the unit is less healthy than the extension. */
function worstOf(
  { extensions, units }: Pick<InstanceView, 'extensions' | 'units'>,
  ofExtension: Explanation | null,
  ofUnit: Explanation | null,
): Explanation | null {
  if (ofExtension === null || ofUnit === null || units === null) return ofExtension ?? ofUnit;
  const health = extensions.find(({ name }) => name === ofExtension.extension)?.health ?? 'healthy';
  return rankOf(units.health) < rankOf(health) ? ofUnit : ofExtension;
}

const shownUnits = (units: UnitConcern & ConcernDetails): InstanceView['units'] => ({
  ...{ unit: units.subject, health: units.health, cause: units.cause, hook: units.command },
  ...{ exitCode: units.exitCode, since: units.since.toISOString(), message: units.message },
});

const shownHold = (hold: Hold | null): AgentView['hold'] =>
  hold && { at: hold.heldAt, by: hold.heldBy, reason: hold.reason, until: hold.until };

/** Names of limits, by the code that is shown when the limit is exceeded. */
const refusalLimits = {
  report_bytes_exceeded: 'reportBytesPerHour',
  goal_states_exceeded: 'goalStateBytesPerHour',
  history_cleared: 'historyBytes',
} as const;

function shownRefusal(
  { code, at, keptFrom }: { code: RefusalCode; at: string; keptFrom: string | null },
  limits: Limits['vm'],
): AgentRefusal {
  const limit = code in refusalLimits ? refusalLimits[code as keyof typeof refusalLimits] : null;
  return {
    code,
    at: new Date(at).toISOString(),
    ...(limit && { limitBytes: limits[limit] }),
    ...(keptFrom && { keptFrom: new Date(keptFrom).toISOString() }),
  };
}
