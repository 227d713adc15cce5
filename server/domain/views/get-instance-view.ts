import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Transaction } from '#db/client.ts';
import {
  agentPresence,
  agentProblems,
  agents,
  executions,
  extensionLatest,
  extensions,
  goalStateHeads,
  holds,
  pendingRestarts,
  secrets,
  vms,
} from '#db/schema/index.ts';
import { openStates } from '#protocol/executions/index.ts';
import {
  canonicalLanguage,
  defaultPeriods,
  negotiate,
  type StatusObject,
  type WantedLanguage,
} from '#protocol/index.ts';
import { allow, hasRole } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { newerAgentVersion } from '#server/domain/enrollment/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { needsReleaseSql, needsSecretsSql } from '#server/domain/goal-states/index.ts';
import { derive, type ExtensionFacts, firstFailedPart, selectExtensions } from '#server/domain/health/index.ts';
import { type Hold, holdOf } from '#server/domain/holds/index.ts';
import {
  findMessages,
  type LocalizedMessage,
  localizeMessage,
  type Resources,
} from '#server/domain/localization/index.ts';
import { parse } from '#server/domain/parse.ts';
import { openRejection } from '#server/domain/reports/index.ts';
import { listSeries, type RetrySeries } from '#server/domain/retries/index.ts';
import {
  agentStatus,
  bySeverity,
  evaluateVmHealth,
  explain,
  isDone,
  lastCommandFailed,
  noticeOf,
  secondsBetween,
} from '#server/domain/verdicts/index.ts';
import type { RefusalCode } from '#server/domain/vms/index.ts';
import type { Limits } from '#server/platform/limits.ts';
import { findAvailableUpdates } from './available-updates.ts';
import { type InstanceViewInput, instanceViewInput } from './input.ts';
import type {
  AgentRefusal,
  AgentView,
  ExtensionInstance,
  HeartbeatView,
  InstanceView,
  StatusView,
  SubstatusView,
} from './instance-view.ts';
import { openProblems } from './open-problems.ts';
import { type ByteShare, distributeBytes } from './view-bytes.ts';

const tailCharacters = 4_000;

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
  const { machine, rows, problems, updates, retries, resources } = await ctx.db.transaction(
    async (tx) => {
      const machine = await loadMachine(tx, vmId, ctx.now);
      const rows = await loadRows(tx, vmId);
      const problems = await loadProblems(tx, ctx, vmId);
      const retries = await listSeries(tx, vmId);
      const updates = (await findAvailableUpdates(tx, [vmId])).get(vmId);
      return { machine, rows, problems, updates, retries, resources: await loadMessages(tx, rows, wanted) };
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' },
  );
  const { vm, head, presence, agent, held, refusals, restart, lane } = machine;
  const status = agentStatus(presence, ctx.now);
  const languages = new Set<string>();
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
    health: evaluateVmHealth(
      status,
      instances.map(({ health }) => health),
    ),
    languages: [...languages],
  };
  const since = iso(lane?.since);
  const taken = lane === null || since === null ? null : { ...lane, since };
  return { ...view, explanation: explain({ ...view, lane: taken }, ctx.now) };
}

type Row = Awaited<ReturnType<typeof loadRows>>[number];
type Presence = typeof agentPresence.$inferSelect;
/** Localizes a message and collects the languages that were used. */
type Speaker = (status: Pick<StatusObject, 'message' | 'formattedMessage'>) => LocalizedMessage | null;
/** Localizes the messages of one extension, within its share of the response. */
interface Localizer {
  say: Speaker;
  share: ByteShare;
}

/** Approximate size of an extension's documents, in bytes. */
const reportedLength = ({ whole }: Row): number =>
  JSON.stringify([whole?.latest?.status, whole?.latest?.heartbeat]).length;

const iso = (date: Date | null | undefined): string | null => date?.toISOString() ?? null;

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

/** How long a rejected call is shown, in milliseconds. */
const refusedForMs = 24 * 3_600_000;

const { incarnation, publishedAt, deliveredIncarnation, deliveredAt } = goalStateHeads;
const headColumns = { incarnation, publishedAt, deliveredIncarnation, deliveredAt };

async function loadMachine(tx: Transaction, vmId: string, now: Date) {
  const since = new Date(now.getTime() - refusedForMs).toISOString();
  const [row] = await tx
    .select({
      vm: vms,
      head: headColumns,
      presence: agentPresence,
      agent: agents,
      held: holds,
      refusals: sql<{ code: RefusalCode; at: string; keptFrom: string | null }[]>`(
        select coalesce(json_agg(json_build_object('code', r.code, 'at', r.at, 'keptFrom',
            case when r.code = 'history_cleared' then
              coalesce((select min(h.at) from report_history h where h.vm_id = r.vm_id), r.at) end)
          order by r.at desc), '[]')
          from agent_refusals r where r.vm_id = ${vms.id} and r.at > ${since}::timestamptz)`,
      lane: { executionId: executions.id, name: executions.name, since: executions.begunAt },
      restart: { since: pendingRestarts.since, requests: pendingRestarts.requests },
    })
    .from(vms)
    .leftJoin(goalStateHeads, eq(goalStateHeads.vmId, vms.id))
    .leftJoin(agentPresence, eq(agentPresence.vmId, vms.id))
    .leftJoin(agents, eq(agents.vmId, vms.id))
    .leftJoin(holds, eq(holds.vmId, vms.id))
    .leftJoin(pendingRestarts, eq(pendingRestarts.vmId, vms.id))
    .leftJoin(executions, and(eq(executions.vmId, vms.id), inArray(executions.state, [...openStates])))
    .where(and(eq(vms.id, vmId), isNull(vms.deletedAt)));
  if (row === undefined) throw new DomainError('not_found', 'vm_unknown');
  return row;
}

/** For operators only, because a message, like command output, may contain part of a file. */
async function loadProblems(tx: Transaction, ctx: Context, vmId: string) {
  if (!hasRole(ctx.actor, 'operator')) return null;
  return tx.select().from(agentProblems).where(eq(agentProblems.vmId, vmId));
}

/** Loads the facts from which health is derived, and the complete documents. */
async function loadRows(tx: Transaction, vmId: string) {
  const facts = await selectExtensions(tx, eq(extensions.vmId, vmId));
  const { name, dependsOn, changedBy } = extensions;
  const documents = await tx
    .select({
      name,
      dependsOn,
      changedBy,
      needsSecrets: needsSecretsSql,
      needsRelease: needsReleaseSql,
      latest: extensionLatest,
    })
    .from(extensions)
    .leftJoin(extensionLatest, and(eq(extensionLatest.vmId, extensions.vmId), eq(extensionLatest.name, name)))
    .leftJoin(secrets, and(eq(secrets.vmId, extensions.vmId), eq(secrets.id, extensions.secretId)))
    .leftJoin(goalStateHeads, eq(goalStateHeads.vmId, extensions.vmId))
    .where(eq(extensions.vmId, vmId));
  const byName = new Map(documents.map((row) => [row.name, row]));
  return facts.map((fact) => ({ ...fact, whole: byName.get(fact.name) }));
}

const versionKeys = (row: ExtensionFacts): string[] =>
  [...new Set([row.handlerState?.version ?? row.goalVersion, row.goalVersion])].map((v) => `${row.handler}-${v}`);

async function loadMessages(
  tx: Transaction,
  rows: Row[],
  wanted: readonly WantedLanguage[],
): Promise<Map<string, Resources>> {
  const ids = new Map<string, { handler: string; version: string; ids: Set<string> }>();
  for (const row of rows) {
    const used = [...idsOf(row.whole?.latest?.status), row.whole?.latest?.heartbeat?.message?.reference?.id];
    for (const key of versionKeys(row)) {
      const version = key.slice(row.handler.length + 1);
      const requested = ids.get(key) ?? { handler: row.handler, version, ids: new Set<string>() };
      for (const id of used) if (id !== undefined) requested.ids.add(id);
      ids.set(key, requested);
    }
  }
  return findMessages(
    tx,
    [...ids.values()].map((requested) => ({ ...requested, ids: [...requested.ids] })),
    wanted,
  );
}

function idsOf(status: StatusObject | null | undefined): string[] {
  if (!status) return [];
  return [...(status.message ? [status.message.id] : []), ...status.substatus.flatMap(idsOf)];
}

/**
 * Returns a function that localizes with the resources of the running version or, if that version has no resources,
 * with the resources of the goal's version.
 */
function speaker(
  found: Map<string, Resources>,
  row: Row,
  wanted: readonly WantedLanguage[],
  { languages, share }: { languages: Set<string>; share: ByteShare },
): Speaker {
  const key = versionKeys(row).find((candidate) => found.has(candidate));
  const resources = (key === undefined ? undefined : found.get(key)) ?? new Map();
  return ({ message, formattedMessage }) => {
    const localized = localizeMessage({ message, formattedMessage, resources, wanted });
    // Handlers can report any text as a language, but `Content-Language` accepts only valid tags.
    if (localized === null) return null;
    const lang = canonicalLanguage(localized.lang);
    if (lang !== null) languages.add(lang);
    return share.message(localized);
  };
}

function instanceOf(
  ctx: Context,
  row: Row,
  agent: Partial<Presence> & { status: InstanceView['agent']['status'] },
  retries: RetrySeries | null,
  localizer: Localizer,
): Omit<ExtensionInstance, 'updateAvailable'> {
  const { heartbeatSeconds = null, statusSeconds = null, status } = agent;
  const derived = derive(row, { status, heartbeatSeconds, statusSeconds }, ctx.now);
  const latest = row.whole?.latest ?? null;
  const concluded = row.statusSequence === row.goalSequenceNumber;
  const concludedWith = concluded ? row.concludedWith : null;
  const instance = {
    name: row.name,
    handler: row.handler,
    goalVersion: row.goalVersion,
    version: row.handlerState?.version ?? null,
    goal: row.goal,
    goalSequenceNumber: row.goalSequenceNumber,
    dependsOn: row.whole?.dependsOn ?? [],
    changedAt: row.changedAt.toISOString(),
    changedBy: row.whole?.changedBy ?? '',
    deliveredAt: iso(row.deliveredAt),
    deadlineAt: iso(derived.deadlineAt),
    concludedAt: concluded ? iso(row.concludedAt) : null,
    concludedWith,
    needsSecrets: row.whole?.needsSecrets ?? false,
    needsRelease: row.whole?.needsRelease ?? false,
    retries,
    handlerState: handlerStateOf(ctx, latest),
    // The next three fields use the extension's share of the response in this order: the failed part first, the status
    // with its substatuses last.
    failedPart: failedPartOf(latest, localizer),
    heartbeat: heartbeatOf(
      row,
      derived.verdict,
      heartbeatSeconds ?? defaultPeriods.heartbeatSeconds,
      ctx.now,
      localizer,
    ),
    status: statusOf(row, derived.staleFor, localizer),
    ...refusalsOf(row, latest),
    health: derived.health,
    done: isDone({ health: derived.health, concludedWith }),
    cause: derived.cause,
    waiting: derived.cause === 'waiting',
  };
  return { ...instance, notice: noticeOf(instance) };
}

type Latest = typeof extensionLatest.$inferSelect | null;

function handlerStateOf(ctx: Context, latest: Latest): ExtensionInstance['handlerState'] {
  const report = latest?.handlerState;
  if (!report) return null;
  const { state, command = null, sequenceNumber, exitCode = null, timedOut, attempt = null, blockedBy = null } = report;
  const output = hasRole(ctx.actor, 'operator') ? { outputTail: tailOf(report.output) } : {};
  return {
    state,
    command,
    sequenceNumber,
    exitCode,
    timedOut,
    failed: lastCommandFailed(report),
    attempt,
    blockedBy,
    ...output,
    at: iso(latest?.handlerAt),
  };
}

/** Returns as many of the last lines as fit. Truncates a line only if no other line fits. */
function tailOf(output: string | undefined): string | null {
  if (output === undefined || output.length <= tailCharacters) return output ?? null;
  const tail = output.slice(-tailCharacters);
  const line = tail.indexOf('\n');
  return (line < 0 || line === tail.length - 1 ? tail : tail.slice(line + 1)).toWellFormed();
}

function heartbeatOf(
  row: Row,
  verdict: HeartbeatView['verdict'],
  periodSeconds: number,
  now: Date,
  { say }: Localizer,
): HeartbeatView {
  const { heartbeatReadAt, heartbeatAgeSeconds } = row;
  const heartbeat = row.whole?.latest?.heartbeat ?? null;
  // The heartbeat of a handler that did not opt in is stored, but not shown (AZ-H4).
  if (heartbeat === null || heartbeatReadAt === null || verdict === 'none') {
    return { verdict, ageSeconds: null, code: null, message: null, readAt: null, nextReadingAt: null };
  }
  const { text, formattedMessage, reference } = heartbeat.message ?? {};
  const elapsed = Math.max(0, secondsBetween(heartbeatReadAt, now));
  return {
    verdict,
    ageSeconds: Math.floor((heartbeatAgeSeconds ?? 0) + elapsed),
    code: heartbeat.code ?? null,
    message: say({
      message: reference,
      formattedMessage: formattedMessage ?? (text === undefined ? undefined : { lang: '', message: text }),
    }),
    readAt: iso(heartbeatReadAt),
    nextReadingAt: iso(new Date(heartbeatReadAt.getTime() + periodSeconds * 1000)),
  };
}

function statusOf(row: Row, staleFor: number | null, localizer: Localizer): StatusView | null {
  const status = row.whole?.latest?.status;
  if (!status) return null;
  const { configurationAppliedTime, timestampUTC } = status;
  const whole = partOf(status, localizer);
  return {
    ...whole,
    omittedSubstatuses: countParts(status) - countParts(whole),
    sequenceNumber: row.statusSequence ?? 0,
    configurationAppliedTime: shown(configurationAppliedTime, localizer),
    timestampUTC,
    stale: staleFor !== null,
    staleSeconds: Math.floor(staleFor ?? 0),
    readAt: iso(row.statusReadAt),
  };
}

function refusalsOf(row: Row, latest: Latest): Pick<ExtensionInstance, 'refusedStatus' | 'refusedHeartbeat'> {
  const { statusReadAt, heartbeatReadAt, goalSequenceNumber: goal } = row;
  const { statusRefused = null, heartbeatRefused = null } = latest ?? {};
  const facts = { goal, statusReadAt, heartbeatReadAt, statusRefused, heartbeatRefused };
  return {
    refusedStatus: row.goal === 'uninstall' ? null : openRejection(facts, 'status'),
    refusedHeartbeat: row.optedIn ? openRejection(facts, 'heartbeat') : null,
  };
}

function failedPartOf(latest: Latest, localizer: Localizer): ExtensionInstance['failedPart'] {
  const part = latest?.status ? firstFailedPart(latest.status) : null;
  if (part === null) return null;
  const { code = null } = part;
  return {
    name: shown(part.name, localizer),
    operation: shown(part.operation, localizer),
    code,
    message: localizer.say(part),
  };
}

/** Returns a status or substatus, with as many of its parts as fit. */
function partOf(object: StatusObject, localizer: Localizer): SubstatusView {
  const { status, code = null } = object;
  const name = shown(object.name, localizer);
  const operation = shown(object.operation, localizer);
  const message = localizer.say(object);
  const substatus: SubstatusView[] = [];
  for (const below of object.substatus) {
    if (!localizer.share.takePart()) break;
    substatus.push(partOf(below, localizer));
  }
  return { name, operation, status, code, message, substatus };
}

const shown = (text: string | undefined, { share }: Localizer): string | null =>
  text === undefined ? null : share.text(text);

function countParts(object: StatusObject | SubstatusView): number {
  let count = 0;
  for (const below of object.substatus) count += 1 + countParts(below);
  return count;
}
