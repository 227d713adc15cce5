import type { LogRequests } from '#protocol/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { listRequestedArchives, receiveArchive } from '#server/domain/logs/index.ts';
import { admit } from '../../authenticate.ts';
import { type AgentCall, contextOf } from '../../call.ts';

/** `GET /agent/v1/log-requests`: returns the log folders that operators requested (AZ-G11). */
export async function logRequests(call: AgentCall): Promise<Response> {
  const { agent } = await admit(call);
  const requests = await listRequestedArchives(contextOf(call, agent), agent.vmId);
  // No request is open, but the cached agent's data may still count one. The next call must read the agent again.
  if (requests.length === 0) call.door.agents.forget(agent.vmId);
  return Response.json({ requests } satisfies LogRequests, { headers: { 'cache-control': 'no-store' } });
}

const forms = { 'application/gzip': 'tar.gz', 'application/x-gzip': 'tar.gz', 'application/zip': 'zip' } as const;

/**
 * `PUT /agent/v1/log-requests/{id}/archive`: stores a requested archive. An empty body means that the machine has no
 * such logs.
 */
export async function logArchive(call: AgentCall, match: RegExpExecArray): Promise<Response> {
  const { agent } = await admit(call);
  const type = call.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase() ?? 'application/gzip';
  const form = Object.hasOwn(forms, type) ? forms[type as keyof typeof forms] : undefined;
  if (form === undefined) {
    const params = { type: 'application/gzip' };
    throw new DomainError('unsupported_media_type', 'media_type_unsupported', { params });
  }
  const length = call.header('content-length');
  const declared = length === null ? undefined : Number(length);
  await receiveArchive(contextOf(call, agent), agent.vmId, match[1] ?? '', { form, bytes: call.stream(), declared });
  call.door.agents.forget(agent.vmId);
  return new Response(null, { status: 204 });
}
