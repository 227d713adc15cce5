import { languageFor, translateFaults } from '#server/i18n/index.ts';
import { type Admitted, admit, logRequestHeaders } from '../../authenticate.ts';
import { readJson } from '../../body.ts';
import { type AgentAnswer, type AgentCall, contextOf } from '../../call.ts';

/**
 * `POST /agent/v1/reports`: 204 once everything is committed, 207 where some entries were refused, 400 where all were,
 * 503 where too many wait. The answer names the goal state in force: a report is a poll too.
 */
export async function reports(call: AgentCall): Promise<AgentAnswer> {
  const { door } = call;
  const { agent, counter }: Admitted = await admit(call);
  door.intake.refuseWhenFull();
  const { value, bytes } = await readJson(call, door.services.config.limits.report.bytes, 'repair');
  const ctx = contextOf(call, agent);
  const input = { vmId: agent.vmId, report: value, receivedAt: ctx.now, counter };
  const { faults, stored, removed } = await door.intake.take(ctx, input, bytes);
  if (removed.length > 0) door.agents.forget(agent.vmId);
  const headers = ['annex-goal-state', await etagInForce(call, agent.etag), ...logRequestHeaders(agent)];
  if (faults.length === 0) return { status: 204, headers, body: null };
  const errors = translateFaults(faults, languageFor({ acceptLanguage: call.header('accept-language') }));
  headers.push('vary', 'Accept-Language', 'content-type', 'application/json');
  return { status: 207, headers, body: JSON.stringify({ stored, errors }) };
}

/** Empty where the VM went with its last extension. */
async function etagInForce(call: AgentCall, known: string | null): Promise<string> {
  if (known !== null) return known;
  try {
    return (await call.door.agents.find(call.header('authorization'))).etag ?? '';
  } catch {
    return '';
  }
}
