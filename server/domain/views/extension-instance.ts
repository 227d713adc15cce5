import type { agentPresence, extensionLatest } from '#db/schema/index.ts';
import { canonicalLanguage, defaultPeriods, type StatusObject, type WantedLanguage } from '#protocol/index.ts';
import { hasRole } from '#server/domain/actor.ts';
import { isoOrNull as iso } from '#server/domain/answers.ts';
import type { Context } from '#server/domain/context.ts';
import { derive, firstFailedPart } from '#server/domain/health/index.ts';
import { type LocalizedMessage, localizeMessage, type Resources } from '#server/domain/localization/index.ts';
import { openRejection } from '#server/domain/reports/index.ts';
import type { RetrySeries } from '#server/domain/retries/index.ts';
import { isDone, lastCommandFailed, noticeOf, secondsBetween } from '#server/domain/verdicts/index.ts';
import type { ExtensionInstance, HeartbeatView, InstanceView, StatusView, SubstatusView } from './instance-view.ts';
import { type InstanceRow, versionKeys } from './load-instance.ts';
import type { ByteShare } from './view-bytes.ts';

const tailCharacters = 4_000;

type Presence = typeof agentPresence.$inferSelect;
/** Localizes a message and collects the languages that were used. */
type Speaker = (status: Pick<StatusObject, 'message' | 'formattedMessage'>) => LocalizedMessage | null;
/** Localizes the messages of one extension, within its share of the response. */
interface Localizer {
  say: Speaker;
  share: ByteShare;
}

/** Approximate size of an extension's documents, in bytes. */
export const reportedLength = ({ whole }: InstanceRow): number =>
  JSON.stringify([whole?.latest?.status, whole?.latest?.heartbeat]).length;

/**
 * Returns a function that localizes with the resources of the running version or, if that version has no resources,
 * with the resources of the goal's version.
 */
export function speaker(
  found: Map<string, Resources>,
  row: InstanceRow,
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

/** Returns an extension as the instance view shows it, except for `updateAvailable`. */
export function instanceOf(
  ctx: Context,
  row: InstanceRow,
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
  row: InstanceRow,
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

function statusOf(row: InstanceRow, staleFor: number | null, localizer: Localizer): StatusView | null {
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

function refusalsOf(row: InstanceRow, latest: Latest): Pick<ExtensionInstance, 'refusedStatus' | 'refusedHeartbeat'> {
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
