import { languageFor, translateFaults } from '#server/i18n/index.ts';
import { type Admitted, admit, newsHeaders, unitsHeader } from '../../authenticate.ts';
import { readJson } from '../../body.ts';
import { type AgentAnswer, type AgentCall, contextOf } from '../../call.ts';
import type { KnownAgent } from '../../memory/agent-memory.ts';
import { countReportBytes, rejectTooManyBytes } from '../../report-bytes.ts';

/**
 * `POST /agent/v1/reports`: returns 204 once everything is committed, or 207 if some entries were rejected. Throws 400
 * if all entries were rejected, 503 if too many reports are waiting, and 429 if the VM sent too many bytes within an
 * hour. The response has the ETag of the current goal state, so a report also works as a poll.
 */
export async function reports(call: AgentCall): Promise<AgentAnswer> {
  const { door } = call;
  const { agent, counter }: Admitted = await admit(call);
  await rejectTooManyBytes(call, agent);
  const { value, bytes } = await readReport(call, agent);
  const ctx = contextOf(call, agent);
  const input = { vmId: agent.vmId, report: value, receivedAt: ctx.now, counter };
  const { faults, stored, removed } = await door.intake.take(ctx, input, bytes);
  if (removed.length > 0) door.agents.forget(agent.vmId);
  const headers = ['annex-goal-state', await etagInForce(call, agent.etag), ...newsHeaders(agent)];
  headers.push(...unitsHeader(call, agent));
  if (faults.length === 0) return { status: 204, headers, body: null };
  const errors = translateFaults(faults, languageFor({ acceptLanguage: call.header('accept-language') }));
  headers.push('vary', 'Accept-Language', 'content-type', 'application/json');
  return { status: 207, headers, body: JSON.stringify({ stored, errors }) };
}

/** Reads the body. Its bytes count toward the queue's limit while it arrives. */
async function readReport(call: AgentCall, agent: KnownAgent): Promise<{ value: unknown; bytes: number }> {
  const limit = call.door.services.config.limits.report.bytes;
  const arrived = call.door.intake.expect(agent.vmId, bytesToExpect(call, limit));
  try {
    return await readJson(call, limit, 'repair', (bytes) => countReportBytes(call, agent, bytes));
  } finally {
    arrived();
  }
}

/** The compression ratio assumed for gzipped JSON. */
const packedBy = 16;

function bytesToExpect(call: AgentCall, limit: number): number {
  const length = call.header('content-length');
  if (length === null) return limit;
  return Math.min(limit, Number(length) * (call.header('content-encoding') === null ? 1 : packedBy));
}

/**
 * Returns the ETag of the current goal state; empty if it cannot be read, for example because the report deleted the
 * VM.
 */
async function etagInForce(call: AgentCall, known: string | null): Promise<string> {
  if (known !== null) return known;
  try {
    return (await call.door.agents.find(call.header('authorization'))).etag ?? '';
  } catch {
    return '';
  }
}
