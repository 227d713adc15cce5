import type { AgentAnswer } from '#server/agent-api/call.ts';
import type { StockGoalState } from '#server/domain/stock-agents/index.ts';
import { parseJson } from '#server/platform/json.ts';
import { noteDone } from './sightings.ts';
import { readStatus, type StatusBlob } from './status/read-status.ts';
import { type Report, reportSeconds, translateStatus } from './status/translate-status.ts';
import { currentOf, emptyAnswer, soon, type WireCall } from './wire-call.ts';

/** An unchanged status is told to the portal again after so long, a few of the agent's periods before it is missed. */
const repeatMs = (reportSeconds - 10) * 1_000;

/**
 * Takes a status blob: what a reference agent would report is taken in as its report. 400 where it is none; else
 * 200, because the agent sends everything again in a few seconds, and stops for half a minute where it hears of an error.
 */
export async function takeStatus(wire: WireCall, bytes: Buffer, accepted: number): Promise<AgentAnswer> {
  const { limits } = wire.call.door.services.config;
  const { value, faults } = parseJson(bytes, { maxDepth: limits.jsonDepth, oddities: 'repair' });
  const blob = faults.length > 0 ? null : readStatus(value);
  if (blob === null) return emptyAnswer(400);
  const goalState = await currentOf(wire);
  noteDone(wire);
  const now = wire.ctx.now;
  const report = translateStatus(blob, goalState, limits.report, (extension, _, status) =>
    wire.guest.said.stamp(extension, status, now),
  );
  if (!wire.guest.said.isKnown(report, now, repeatMs))
    await soon(wire, 'status', tell(wire, goalState, blob, report, bytes.length));
  return emptyAnswer(accepted);
}

async function tell(
  wire: WireCall,
  goalState: StockGoalState,
  blob: StatusBlob,
  report: Report,
  bytes: number,
): Promise<void> {
  const { call, ctx, guest } = wire;
  const { vmId } = guest;
  guest.notedAt = ctx.now.getTime();
  const { settled, agentVersion, os } = blob;
  const version = (agentVersion ?? goalState.heard.version).slice(0, 64);
  await guest.note(ctx, goalState, { version, os, settled: settled ?? goalState.heard.settled });
  const { removed } = await call.door.intake.take(ctx, { vmId, report, receivedAt: ctx.now, counter: null }, bytes);
  guest.said.keep(report, ctx.now);
  if (removed.length > 0) call.door.agents.forget(vmId);
}
