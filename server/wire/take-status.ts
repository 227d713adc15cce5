import type { AgentAnswer } from '#server/agent-api/call.ts';
import { countReportBytes, rejectTooManyBytes } from '#server/agent-api/report-bytes.ts';
import { DomainError } from '#server/domain/error.ts';
import type { MessageMatcher } from '#server/domain/localization/index.ts';
import { listShownStatuses, type StockGoalState } from '#server/domain/stock-agents/index.ts';
import { parseJson } from '#server/platform/json.ts';
import { noteDone } from './sightings.ts';
import { readStatus, type StatusBlob } from './status/read-status.ts';
import { partsOf, type Report, translateStatus } from './status/translate-status.ts';
import { currentOf, emptyAnswer, soon, type WireCall } from './wire-call.ts';

/**
 * Ingests a status blob like a report of the reference agent. Responds with 400 if it is malformed, and otherwise with
 * `accepted`, even after an error: the agent sends everything again within seconds, but pauses for half a minute after
 * an error response.
 */
export async function takeStatus(wire: WireCall, bytes: Buffer, accepted: number): Promise<AgentAnswer> {
  const { limits } = wire.ctx.config;
  const now = wire.ctx.now;
  const { statuses } = wire.guest;
  const text = bytes.toString();
  const goalState = await currentOf(wire);
  if (statuses.isRepeated(text, goalState.etag, now)) {
    noteDone(wire);
    return emptyAnswer(accepted);
  }
  const { value, faults } = parseJson(bytes, { maxDepth: limits.jsonDepth, oddities: 'repair' });
  const blob = faults.length > 0 ? null : readStatus(value);
  if (blob === null) return emptyAnswer(400);
  noteDone(wire);
  const { isProcessing } = wire.guest;
  // Ingests one status per VM at a time, so that only one waits for a slow database.
  if (!isProcessing.status) {
    isProcessing.status = true;
    const heard = hear(wire, goalState, blob, text).finally(() => {
      isProcessing.status = false;
    });
    await soon(wire, 'status', heard);
  }
  return emptyAnswer(accepted);
}

/**
 * Ingests the report in a blob, unless it repeats the last one. If a status is new to this process, first reads the
 * stored statuses, because another gateway may already have received it.
 */
async function hear(wire: WireCall, goalState: StockGoalState, blob: StatusBlob, text: string): Promise<void> {
  const { ctx, guest } = wire;
  const bounds = ctx.config.limits.report;
  let hasNews = false;
  translateStatus(blob, goalState, bounds, (extension, status) => {
    hasNews ||= guest.statuses.isNews(extension, status);
    return '';
  });
  if (hasNews) guest.statuses.learn(await listShownStatuses(ctx, guest.vmId));
  const report = translateStatus(blob, goalState, bounds, (extension, status) =>
    guest.statuses.stamp(extension, status, ctx.now),
  );
  if (!guest.statuses.isKnown(report, ctx.now)) await tell(wire, goalState, blob, report, text);
}

async function tell(
  wire: WireCall,
  goalState: StockGoalState,
  blob: StatusBlob,
  report: Report,
  text: string,
): Promise<void> {
  const { call, ctx, guest } = wire;
  const { vmId } = guest;
  await rejectTooManyBytes(call, guest.agent);
  countReportBytes(call, guest.agent, text.length);
  guest.notedAt = ctx.now.getTime();
  const { settled, agentVersion, os } = blob;
  const version = agentVersion ?? goalState.heard.version;
  await guest.note(ctx, goalState, { version, os, settled: settled ?? goalState.heard.settled });
  const recover = await recoveryOf(wire, goalState, report);
  const keep = (): void => guest.statuses.keep(report, text, goalState.etag, ctx.now);
  try {
    const parts = partsOf(report, ctx.config.limits.report.entries);
    let gone = 0;
    for (const part of parts) {
      const input = { vmId, report: part, receivedAt: ctx.now, counter: null, recover };
      gone += (await call.door.intake.take(ctx, input, text.length)).removed.length;
    }
    keep();
    if (gone > 0) call.door.agents.forget(vmId);
  } catch (error) {
    // Also caches rejected reports, because sending one again would only lead to the same rejection.
    if (error instanceof DomainError && error.kind !== 'unavailable') keep();
    throw error;
  }
}

/** Returns message matchers by extension. They recover the message ids that the agent drops. */
async function recoveryOf(
  { call, ctx }: WireCall,
  { extensions }: StockGoalState,
  { handlers }: Report,
): Promise<Map<string, MessageMatcher>> {
  const running = new Map(handlers.map(({ extension, version }) => [extension, version]));
  const versions = extensions.map(({ goal: { name, handler, version } }) => ({
    name,
    handler,
    version: running.get(name) ?? version,
  }));
  const found = await call.door.matchers.find(versions, ctx.now);
  const recover = new Map<string, MessageMatcher>();
  for (const { name, handler, version } of versions) {
    const matcher = found.get(`${handler}-${version}`);
    if (matcher !== undefined) recover.set(name, matcher);
  }
  return recover;
}
