import { pollAfter } from '#server/domain/enrollment/index.ts';
import { ingestReport } from '#server/domain/reports/index.ts';
import { translateFaults } from '#server/i18n/index.ts';
import { admit, noteSighting } from '../../authenticate.ts';
import { readJson } from '../../body.ts';
import type { AgentCall } from '../../call.ts';

/**
 * `POST /agent/v1/reports`: 204 once everything is committed, 207 where some entries were refused, 400 where all were.
 * The answer names the goal state in force: a report is a poll too.
 */
export async function reports(call: AgentCall): Promise<Response> {
  const admitted = await admit(call);
  const { door, request } = call;
  const report = await readJson(call, door.services.config.limits.report.bytes, 'repair');
  const receivedAt = door.clock();
  const { stored, faults, etag } = await ingestReport(
    { ...admitted.ctx, now: receivedAt },
    { vmId: admitted.agent.vmId, report, receivedAt },
  );
  noteSighting(call, admitted, pollAfter(0));
  const headers = { 'annex-goal-state': etag };
  if (faults.length === 0) return new Response(null, { status: 204, headers });
  const errors = translateFaults(faults, request.headers.get('accept-language'));
  return Response.json({ stored, errors }, { status: 207, headers: { ...headers, vary: 'Accept-Language' } });
}
