import { hash } from 'node:crypto';
import { executionLimits } from '#protocol/executions/index.ts';
import { DomainError } from '#server/domain/error.ts';
import {
  findFileOfMachine,
  handOutNext,
  noteProgress,
  takeMessages,
  takeResult,
  takeTranscript,
} from '#server/domain/executions/index.ts';
import { admit } from '../../authenticate.ts';
import { readJson, readText } from '../../body.ts';
import { type AgentAnswer, type AgentCall, contextOf } from '../../call.ts';
import { sendBytes } from '../../send-bytes.ts';
import { readRange, unpacked } from '../logs/route.ts';

/** Maximum size of a progress report. A report of 10,000 calls with long names is about 4 MiB. */
const progressBytes = 8 * 1024 * 1024;
/** Maximum size of a call with log messages: 100 messages of 64 KiB, and their other properties. */
const messagesBytes = 8 * 1024 * 1024;

/** `GET /agent/v1/executions/next`: returns the next execution for this machine, or 204. */
export async function nextExecution(call: AgentCall): Promise<AgentAnswer> {
  const { agent } = await admit(call);
  const envelope = await handOutNext(contextOf(call, agent), agent.vmId);
  call.door.agents.forget(agent.vmId);
  const headers = ['cache-control', 'no-store'];
  if (envelope === null) return { status: 204, headers, body: null };
  headers.push('content-type', 'application/json', 'repr-digest', `sha-256=:${hash('sha256', envelope, 'base64')}:`);
  return { status: 200, headers, body: envelope };
}

/** `PUT /agent/v1/executions/{id}/progress`: stores the agent's receipt of the plan, and later the Body's progress. */
export async function executionProgress(call: AgentCall, id: string): Promise<AgentAnswer> {
  const { agent } = await admit(call);
  const { value } = await readJson(call, progressBytes);
  const seconds = await noteProgress(contextOf(call, agent), agent.vmId, id, value);
  return { status: 204, headers: ['annex-next-after', String(seconds)], body: null };
}

/**
 * `PUT /agent/v1/executions/{id}/result`: stores the result and ends the execution. Repeated results are only counted.
 */
export async function executionResult(call: AgentCall, id: string): Promise<AgentAnswer> {
  const { agent } = await admit(call);
  const text = await readText(call, executionLimits.resultBytes, 'result_too_large');
  await takeResult(contextOf(call, agent), agent.vmId, id, text);
  call.door.agents.forget(agent.vmId);
  return { status: 204, headers: [], body: null };
}

/** `POST /agent/v1/executions/{id}/transcript`: stores a part of the transcript, as `POST /logs` does for outputs. */
export async function executionTranscript(call: AgentCall, match: RegExpExecArray): Promise<Response> {
  const { agent } = await admit(call);
  const range = readRange(call.header('content-range'));
  const input = { vmId: agent.vmId, executionId: match[1] ?? '', range };
  const { received, nextAfter } = await takeTranscript(contextOf(call, agent), input, unpacked(call));
  return new Response(null, {
    status: 204,
    headers: { 'annex-output-bytes': String(received), 'annex-next-after': String(nextAfter) },
  });
}

/**
 * `POST /agent/v1/executions/{id}/messages`: stores log messages of an agent that sends no transcript. A call can
 * contain several messages.
 */
export async function executionMessages(call: AgentCall, match: RegExpExecArray): Promise<Response> {
  const { agent } = await admit(call);
  const { value } = await readJson(call, messagesBytes);
  const seconds = await takeMessages(contextOf(call, agent), agent.vmId, match[1] ?? '', value);
  return new Response(null, { status: 204, headers: { 'annex-next-after': String(seconds) } });
}

/**
 * `GET /agent/v1/executions/{id}/files/{file}`: returns a file of BodyType `ID`, or a range of its bytes, as it was
 * when the execution was queued.
 */
export async function executionFile(call: AgentCall, match: RegExpExecArray): Promise<Response> {
  const { agent } = await admit(call);
  const file = fileIdIn(match[2] ?? '');
  const { sha256, size } = await findFileOfMachine(contextOf(call, agent), agent.vmId, match[1] ?? '', file);
  return sendBytes(call, agent.vmId, {
    ...{ sha256, size, type: 'application/octet-stream' },
    damaged: () => {
      const { door, requestId } = call;
      door.log.error({ requestId, sha256 }, 'the bytes of a runbook file are lost or damaged: upload the file again');
      return new DomainError('unavailable', 'runbook_file_damaged');
    },
  });
}

/** Decodes the id of a file in a path. Throws 404 `execution_file_unknown`. */
function fileIdIn(encoded: string): string {
  try {
    const file = decodeURIComponent(encoded);
    if (!file.includes('\u0000')) return file;
  } catch {
    // Handled like an unknown file.
  }
  throw new DomainError('not_found', 'execution_file_unknown');
}
