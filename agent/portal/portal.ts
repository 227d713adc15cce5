import { statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { AgentError, sentenceOf } from '../agent-error.ts';
import { agentName, agentVersion } from '../version.ts';
import type { Caller, PortalCall, PortalResponse } from './call.ts';
import { type ExecutionCalls, type ExecutionNews, executionCalls, executionNews } from './execution-calls.ts';
import { PortalRefusal, secondsIn } from './refusal.ts';
import { type UnitCalls, type UnitNews, unitCalls, unitHeader, unitNews } from './unit-calls.ts';

export { type ExecutionNews, noExecutions } from './execution-calls.ts';
export { PortalRefusal } from './refusal.ts';

export interface PolledGoalState {
  /** Null if there is nothing new. */
  document: { text: string; etag: string } | null;
  /** Seconds until the next poll; null if the portal does not say. */
  pollAfter: number | null;
  /** Whether operators are waiting for log folders of this machine. */
  wantsLogs: boolean;
  executions: ExecutionNews;
  /** Absent if the portal, such as that of a trial, has no units. */
  units?: UnitNews;
}

/**
 * The portal's API for an enrolled machine. Throws PortalRefusal if the portal rejects a request, and Error if the
 * portal does not respond.
 */
export interface Portal extends ExecutionCalls {
  /** Absent if the portal, such as that of a trial, has no units. */
  readonly units?: UnitCalls;
  /**
   * Polls. `unitStamp` identifies the unit state that the agent knows of; empty if it knows of none, and null for an
   * agent without units.
   */
  goalState(
    etag: string | null,
    waitSeconds: number,
    signal?: AbortSignal,
    unitStamp?: string | null,
  ): Promise<PolledGoalState>;
  /**
   * Downloads a package to a file, resuming after the bytes that the file already has. `url` is relative to the portal
   * and must not lead to another origin. Throws if there are more than `size` bytes.
   */
  downloadPackage(url: string, file: string, size: number, signal?: AbortSignal): Promise<void>;
  /** Uploads a piece of a command's complete output. */
  sendLog(piece: LogPiece, signal?: AbortSignal): Promise<void>;
  /**
   * Sends a report. In the response, `etag` is the ETag of the portal's goal state, or null; `refused` describes the
   * entries that were not stored, or is null. `unitStamp` as for a poll.
   */
  report(body: unknown, unitStamp?: string | null): Promise<ReportAnswer>;
  /** Returns the requests for log folders that operators are waiting for (AZ-G11). */
  logRequests(signal?: AbortSignal): Promise<LogRequest[]>;
  /** Uploads the log folders of a handler as a zip; an empty file means that there are no logs. */
  sendArchive(id: string, zip: string, signal?: AbortSignal): Promise<void>;
  /**
   * Makes the portal encrypt protected settings for a new certificate. `proof` is a signature of the certificate's PEM
   * with the old key, in base64.
   */
  renewCertificate(certificate: string, proof: string): Promise<void>;
  /** Tells the portal the version of this agent. */
  describeAgent(): Promise<void>;
}

export interface ReportAnswer {
  etag: string | null;
  refused: string | null;
  wantsLogs: boolean;
  executions: ExecutionNews;
  units?: UnitNews;
}

export interface LogRequest {
  id: string;
  /** `<ProviderNamespace>.<Type>`. */
  handler: string;
}

const logRequestList = z.object({ requests: z.array(z.object({ id: z.uuid(), handler: z.string() })) });

export interface LogPiece {
  extension: string;
  command: string;
  attempt: number;
  sequence: number;
  /** Offset of the piece within the whole output. */
  from: number;
  total: number;
  bytes: Buffer;
}

/** Returns the portal's API for an enrolled machine. `nextCall` returns the next value of the call counter. */
export function openPortal(base: string, credential: string, nextCall: () => string, call: Caller): Portal {
  const send = twiceOnConflict(inOrder(base, credential, nextCall, call));
  return {
    ...goalStateCalls(send),
    ...reportCalls(send),
    ...logCalls(send),
    ...executionCalls(send),
    units: unitCalls(send),

    async renewCertificate(certificate, proof) {
      const answer = await send({
        method: 'PUT',
        path: '/agent/v1/certificate',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ certificate, proof }),
        idleSeconds: 30,
      });
      if (answer.status !== 200) throw new PortalRefusal(answer);
    },

    async describeAgent() {
      const answer = await send({
        method: 'PUT',
        path: '/agent/v1/agent',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: agentName, version: agentVersion }),
        idleSeconds: 30,
      });
      if (answer.status !== 204) throw new PortalRefusal(answer);
    },
  };
}

/**
 * Sends requests in the order of their counters, because a lower counter would look like a second machine to the
 * portal.
 */
function inOrder(base: string, credential: string, nextCall: () => string, call: Caller): PortalCall {
  let turn: Promise<void> = Promise.resolve();
  return async (options) => {
    const before = turn;
    let pass = () => {};
    turn = new Promise((resolve) => {
      pass = resolve;
    });
    await before;
    try {
      return await call({
        ...options,
        url: portalUrl(base, options.path),
        headers: { ...options.headers, authorization: `Bearer ${credential}`, 'annex-agent': nextCall() },
        onSent: () => setTimeout(pass, 20),
      });
    } finally {
      pass();
    }
  };
}

/**
 * Repeats a request once after a 409, because two requests may still arrive in the wrong order. If a second machine is
 * the cause, the portal rejects the repeated request too.
 */
function twiceOnConflict(send: PortalCall): PortalCall {
  return async (options) => {
    const answer = await send(options);
    return answer.status === 409 ? await send(options) : answer;
  };
}

function goalStateCalls(send: PortalCall): Pick<Portal, 'goalState' | 'downloadPackage'> {
  return {
    async goalState(etag, waitSeconds, signal, unitStamp = null) {
      const answer = await send({
        method: 'GET',
        path: `/agent/v1/goal-state?wait=${Math.round(waitSeconds)}`,
        headers: {
          ...(etag !== null && { 'if-none-match': etag }),
          ...unitHeader(unitStamp),
        },
        idleSeconds: waitSeconds + 30,
        signal,
      });
      const pollAfter = secondsIn(answer.headers['annex-poll-after']);
      const [executions, units] = [executionNews(answer), unitNews(answer)];
      const news = { pollAfter, wantsLogs: announcesLogs(answer), executions, units };
      if (answer.status === 304) return { document: null, ...news };
      if (answer.status !== 200) throw new PortalRefusal(answer);
      // A proxy that compresses responses weakens the ETag, but the portal compares strong ETags.
      const given = (answer.headers.etag ?? '').replace(/^W\//, '');
      return { document: { text: answer.text, etag: given }, ...news };
    },

    async downloadPackage(url, file, size, signal) {
      const have = sizeOf(file);
      if (have === size && size > 0) return;
      const answer = await send({
        method: 'GET',
        path: url,
        headers: have > 0 && have < size ? { range: `bytes=${have}-` } : {},
        saveTo: { file, from: have, maxBytes: size },
        idleSeconds: 60,
        signal,
      });
      if (answer.status !== 200 && answer.status !== 206) throw new PortalRefusal(answer);
    },
  };
}

function reportCalls(send: PortalCall): Pick<Portal, 'report' | 'sendLog'> {
  return {
    async report(body, unitStamp = null) {
      const answer = await send({
        method: 'POST',
        path: '/agent/v1/reports',
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip', ...unitHeader(unitStamp) },
        body: gzipSync(JSON.stringify(body)),
        idleSeconds: 60,
      });
      if (answer.status !== 204 && answer.status !== 207) throw new PortalRefusal(answer);
      const etag = answer.headers['annex-goal-state'];
      return {
        etag: typeof etag === 'string' ? etag : null,
        refused: answer.status === 207 ? answer.text.slice(0, 2000) : null,
        wantsLogs: announcesLogs(answer),
        executions: executionNews(answer),
        units: unitNews(answer),
      };
    },

    async sendLog({ extension, command, attempt, sequence, from, total, bytes }, signal) {
      const query = new URLSearchParams({ command, attempt: String(attempt), sequence: String(sequence) });
      const answer = await send({
        method: 'POST',
        path: `/agent/v1/logs/${encodeURIComponent(extension)}?${query}`,
        headers: {
          'content-type': 'text/plain',
          'content-encoding': 'gzip',
          'content-range': `bytes ${from}-${from + bytes.length - 1}/${total}`,
        },
        body: gzipSync(bytes),
        idleSeconds: 60,
        signal,
      });
      if (answer.status !== 204) throw new PortalRefusal(answer);
    },
  };
}

function logCalls(send: PortalCall): Pick<Portal, 'logRequests' | 'sendArchive'> {
  return {
    async logRequests(signal) {
      const answer = await send({ method: 'GET', path: '/agent/v1/log-requests', idleSeconds: 60, signal });
      if (answer.status !== 200) throw new PortalRefusal(answer);
      const parsed = logRequestList.safeParse(jsonOf(answer.text));
      return parsed.success ? parsed.data.requests : [];
    },

    async sendArchive(id, zip, signal) {
      const answer = await send({
        method: 'PUT',
        path: `/agent/v1/log-requests/${id}/archive`,
        headers: { 'content-type': 'application/zip' },
        bodyFile: zip,
        idleSeconds: 60,
        signal,
      });
      if (answer.status !== 204) throw new PortalRefusal(answer);
    },
  };
}

export interface MachineEnrollment {
  enrollmentToken: string;
  certificate: string;
  /** Signature of the token with the certificate's key, in base64. */
  proof: string | undefined;
  os: { name: string; version: string; arch: string };
  /** For a machine of a model: the id of its instance, and its address in the model's network. */
  instance?: { id: string; address: string };
}

const enrolled = z.object({ vmId: z.string().min(1), credential: z.string().min(1), pollSeconds: z.number() });

/**
 * Sends the token and the certificate. Returns the VM's id and credential. Throws an AgentError that says what to do
 * next.
 */
export async function enrollAt(
  base: string,
  { enrollmentToken, certificate, proof, os, instance }: MachineEnrollment,
  call: Caller,
): Promise<z.infer<typeof enrolled>> {
  const url = portalUrl(base, '/agent/v1/enroll');
  const agent = { name: agentName, version: agentVersion };
  const body = JSON.stringify({ enrollmentToken, certificate, proof, agent, os, instance });
  let answer: PortalResponse;
  try {
    answer = await call({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body,
      idleSeconds: 30,
    });
  } catch (error) {
    throw new AgentError(
      `${url.origin} did not respond: ${sentenceOf(error)}. Check the address and that the portal is running, then run enroll again.`,
    );
  }
  if (answer.status === 201) {
    const parsed = enrolled.safeParse(jsonOf(answer.text));
    if (parsed.success) return parsed.data;
    throw new AgentError(`${url.origin} responded with 201, but is not a portal. Check the address.`);
  }
  const refusal = new PortalRefusal(answer);
  const next =
    answer.status === 401
      ? 'Create a new enrollment token for this VM in the portal, then run enroll again with it.'
      : answer.status === 429
        ? `Wait ${refusal.retryAfter ?? 60} s, then run enroll again.`
        : 'Check the address, or ask the people who run the portal.';
  throw new AgentError(`The portal did not enroll this machine: ${refusal.message}. ${next}`);
}

function announcesLogs({ headers }: PortalResponse): boolean {
  return Number(headers['annex-log-requests'] ?? 0) > 0;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Resolves a path or URL from the portal. A path that starts with `/` is relative to the portal's base path. Throws
 * AgentError for a URL of another origin.
 */
export function portalUrl(base: string, path: string): URL {
  const root = new URL(base.endsWith('/') ? base : `${base}/`);
  const url = path.startsWith('/') && !path.startsWith('//') ? new URL(path.slice(1), root) : new URL(path, root);
  if (url.origin !== root.origin) {
    throw new AgentError(
      `The portal named an address of another server, ${url.origin}. The agent does not send its credential there.`,
    );
  }
  return url;
}
