import type { HandlerState, StatusObject } from '#protocol/index.ts';
import { isPlainObject } from '#protocol/index.ts';
import { inFourParts, type StockExtension, type StockGoalState } from '#server/domain/stock-agents/index.ts';
import type { Limits } from '#server/platform/limits.ts';
import { failureOf } from './command-of.ts';
import { cutTo } from './cut.ts';
import { readPassedOn } from './read-passed-on.ts';
import type { HandlerStatus, StatusBlob } from './read-status.ts';

/** Messages that the agent itself writes after a successful command. */
const installedOnly = 'plugin installed but not enabled';
const ownWords = new Set(['', 'plugin enabled', 'plugin disabled', installedOnly]);
/** Start of the message that the agent writes as the status of an extension without a status file. */
const statusFiller = 'this status is being reported by the guest agent since no status file was reported';
/** Age of a heartbeat file in seconds at which its handler counts as unresponsive, regardless of the contents. */
const silentSeconds = 601;
/** Age of a heartbeat file in seconds at which its handler no longer counts as ready. */
const unsureSeconds = 61;

interface HandlerEntry {
  extension: string;
  version: string;
  sequenceNumber: number;
  state: HandlerState;
  command?: string;
  exitCode?: number;
  timedOut?: boolean;
  blockedBy?: string;
  output?: string;
}

/** A report as the reference agent sends it. */
export interface Report {
  agentTime?: string;
  appliedEtag?: string;
  periods: { heartbeatSeconds: number; statusSeconds: number };
  handlers: HandlerEntry[];
  heartbeats: object[];
  statuses: { extension: string; sequenceNumber: number; file: readonly object[] }[];
}

type Bounds = Limits['report'];

/** Seconds within which the portal expects the next status. */
export const reportSeconds = 60;

/**
 * Returns the time to use for a status. The handler's own time is lost, because the agent replaces it with the time of
 * the upload.
 */
type Stamp = (extension: string, status: object) => string;

/** Translates a status blob into a report as the reference agent would send it. Truncates texts to the limits. */
export function translateStatus(blob: StatusBlob, goalState: StockGoalState, bounds: Bounds, stamp: Stamp): Report {
  // During a hold, the agent processes nothing, even if it reports that it has finished.
  const isSettled = !goalState.onHold && blob.settled?.incarnation === goalState.incarnation;
  // A missing entry proves that the extension was removed, but only if the goal state succeeded and the list of
  // handlers is complete.
  const isDone = isSettled && blob.isWhole && blob.settled?.status.toLowerCase() === 'success';
  const report: Report = {
    ...(blob.at !== null && { agentTime: blob.at }),
    ...(isSettled && { appliedEtag: goalState.etag }),
    periods: { heartbeatSeconds: reportSeconds, statusSeconds: reportSeconds },
    handlers: [],
    heartbeats: [],
    statuses: [],
  };
  for (const extension of goalState.extensions) {
    const entry = entryOf(extension, blob.handlers);
    const handler = handlerEntry(extension, entry, { isSettled, isDone }, bounds);
    if (handler !== null) report.handlers.push(handler);
    if (entry === null) continue;
    const heartbeat = heartbeatEntry(extension, entry, bounds);
    if (heartbeat !== null) report.heartbeats.push(heartbeat);
    const status = statusEntry(extension, entry, bounds, stamp);
    if (status !== null) report.statuses.push(status);
  }
  return report;
}

/** Splits a report so that no part has more than `mostEntries` entries. Nearly all reports have only one part. */
export function partsOf(report: Report, mostEntries: number): Report[] {
  const lists = [report.handlers, report.heartbeats, report.statuses];
  const [count, longest] = [
    lists.reduce((sum, { length }) => sum + length, 0),
    Math.max(...lists.map((l) => l.length)),
  ];
  if (count <= mostEntries) return [report];
  const most = Math.max(1, Math.floor(mostEntries / lists.length));
  return Array.from({ length: Math.ceil(longest / most) }, (_, part) => {
    const [from, until] = [part * most, (part + 1) * most];
    const { handlers, heartbeats, statuses } = report;
    return {
      ...report,
      handlers: handlers.slice(from, until),
      heartbeats: heartbeats.slice(from, until),
      statuses: statuses.slice(from, until),
    };
  });
}

/**
 * Finds the entry of an extension. If the handler has several extensions, the extension's own entry takes precedence
 * over one for the whole handler.
 */
function entryOf({ goal, wireName }: StockExtension, handlers: readonly HandlerStatus[]): HandlerStatus | null {
  const ofHandler = handlers.filter(({ handlerName }) => handlerName.toLowerCase() === goal.handler.toLowerCase());
  if (wireName === null) return ofHandler[0] ?? null;
  const nameOf = (entry: HandlerStatus) => entry.runtimeSettingsStatus?.extensionName ?? null;
  const own = ofHandler.find((entry) => nameOf(entry) === wireName);
  // If the extension has no entry, the handler may have failed before any of its extensions ran.
  return own ?? ofHandler.find((entry) => nameOf(entry) === null) ?? null;
}

/** Whether the entry is for this extension and not just for its handler. */
const isOwn = ({ wireName }: StockExtension, entry: HandlerStatus): boolean =>
  wireName === null || entry.runtimeSettingsStatus?.extensionName === wireName;

function handlerEntry(
  extension: StockExtension,
  entry: HandlerStatus | null,
  { isSettled, isDone }: { isSettled: boolean; isDone: boolean },
  { outputBytes }: Bounds,
): HandlerEntry | null {
  const { goal } = extension;
  const sequenceNumber = isSettled ? goal.sequenceNumber : (entry?.runtimeSettingsStatus?.sequenceNumber ?? null);
  if (sequenceNumber === null) return null;
  const version = versionOf(extension, entry);
  const frame = { extension: goal.name, version, sequenceNumber };
  const isThere = entry !== null && isOwn(extension, entry);
  if (goal.state === 'uninstall' && isDone && !isThere) return { ...frame, state: 'removed', command: 'uninstall' };
  const failure = entry === null ? null : failureOf(entry, extension.reportsHeartbeat);
  if (failure !== null) {
    const blockedBy = blockedByOf(extension, failure.output);
    if (blockedBy !== null) return { ...frame, state: 'waiting', blockedBy };
    return { ...frame, state: 'failed', ...failure, output: cutTo(outputBytes, failure.output) };
  }
  if (goal.state === 'uninstall') return isThere ? { ...frame, state: 'uninstalling' } : null;
  // The agent does not install an extension only to disable it, so there may be no entry.
  if (goal.state === 'disabled')
    return isDone ? { ...frame, state: 'disabled', command: 'disable', exitCode: 0 } : null;
  if (entry === null) return null;
  const isInstalled = entry.formattedMessage?.message?.toLowerCase() === installedOnly;
  if (isInstalled) return { ...frame, state: 'installed', command: 'install', exitCode: 0 };
  return { ...frame, state: 'enabled', command: 'enable', exitCode: 0 };
}

/** Returns the reported version. If it equals the goal's version, returns the goal's spelling, as published. */
function versionOf({ goal, version }: StockExtension, entry: HandlerStatus | null): string {
  const reported = cutTo(64, entry?.handlerVersion ?? version);
  return inFourParts(reported) === inFourParts(version) ? goal.version : reported;
}

/**
 * Returns the extension that this one waits for; null if it waits for none. If a dependency fails, the agent skips
 * dependent extensions and says so only in a message.
 */
function blockedByOf({ goal, level }: StockExtension, output: string): string | null {
  if (level === 0 || !/dependent extension/i.test(output)) return null;
  return goal.dependsOn.find((name) => output.includes(name)) ?? goal.dependsOn[0] ?? null;
}

/**
 * Returns a heartbeat entry; null if the entry contains no heartbeat. The agent reports the heartbeat's status in place
 * of the handler's state.
 */
function heartbeatEntry(
  { goal, reportsHeartbeat }: StockExtension,
  entry: HandlerStatus,
  bounds: Bounds,
): object | null {
  if (!reportsHeartbeat || goal.state !== 'enabled' || failureOf(entry, reportsHeartbeat) !== null) return null;
  const word = entry.status.toLowerCase();
  const message = entry.formattedMessage?.message ?? '';
  const isKnown = word === 'ready' || word === 'notready';
  const code = entry.code ?? undefined;
  // The code and message of an unreadable heartbeat remain until the next enable command.
  const isLeftBehind = word === 'ready' && code === -1;
  const heartbeat = {
    status: word === 'notready' || word === 'unresponsive' ? 'notready' : 'ready',
    ...(code !== undefined && !isLeftBehind && { code }),
    ...(!isLeftBehind &&
      !ownWords.has(message.trim().toLowerCase()) && {
        formattedMessage: formattedIn(entry.formattedMessage?.lang, message, bounds),
      }),
  };
  const ageSeconds = isKnown ? 0 : word === 'unresponsive' ? silentSeconds : unsureSeconds;
  return { extension: goal.name, ageSeconds, readSecondsAgo: 0, file: [{ version: 1.0, heartbeat }] };
}

function statusEntry(
  { goal }: StockExtension,
  entry: HandlerStatus,
  bounds: Bounds,
  stamp: Stamp,
): Report['statuses'][number] | null {
  const { sequenceNumber, settingsStatus } = entry.runtimeSettingsStatus ?? {};
  const passedOn = settingsStatus?.status;
  if (!isPlainObject(passedOn) || sequenceNumber === undefined || sequenceNumber === null) return null;
  const read = readPassedOn(passedOn, bounds);
  // A disable command may write no status. If so, the handler's last status is kept.
  const isFiller = read?.formattedMessage?.message.toLowerCase().startsWith(statusFiller) ?? false;
  if (isFiller && goal.state !== 'enabled') return null;
  // An unreadable status is passed on unchanged, so that the portal shows what is wrong with it.
  const status = read === null ? passedOn : withoutEmpty(read);
  const timestampUTC = read === null ? '' : stamp(goal.name, status);
  return {
    extension: goal.name,
    sequenceNumber,
    ...{ ageSeconds: 0, readSecondsAgo: 0 },
    file: [{ version: 1.0, timestampUTC, status }],
  };
}

/** Removes the empty fields that the agent adds, and replaces an empty language with `en-US`. */
function withoutEmpty({ name, operation, configurationAppliedTime, substatus, ...status }: StatusObject): object {
  const { formattedMessage } = status;
  return {
    ...(name && { name }),
    ...status,
    ...(formattedMessage && { formattedMessage: { ...formattedMessage, lang: formattedMessage.lang || 'en-US' } }),
    ...(operation && { operation }),
    ...(configurationAppliedTime && { configurationAppliedTime }),
    ...(substatus.length > 0 && { substatus: substatus.map(withoutEmpty) }),
  };
}

const formattedIn = (lang: string | null | undefined, message: string, { messageBytes }: Bounds) => ({
  lang: cutTo(64, lang || 'en-US'),
  message: cutTo(messageBytes, message),
});
