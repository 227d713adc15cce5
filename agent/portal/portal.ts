import { statSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import type { ExecutionProgress, PlatformReport } from '#protocol/executions/index.ts';
import { AgentError, sentenceOf } from '../agent-error.ts';
import { agentName, agentVersion } from '../version.ts';
import type { Caller, HttpCall, PortalResponse } from './call.ts';

/** The error for a request that the portal rejected. */
export class PortalRefusal extends Error {
  override readonly name = 'PortalRefusal';
  readonly status: number;
  readonly code: string;
  /** The delay that the portal requests, in seconds, or null. */
  readonly retryAfter: number | null;

  constructor(answer: PortalResponse) {
    const problem = problemOf(answer.text);
    super(`${(problem.detail ?? problem.title ?? 'no reason given').replace(/\.$/, '')} (${answer.status})`);
    this.status = answer.status;
    this.code = problem.code ?? '';
    this.retryAfter = seconds(answer.headers['retry-after']);
  }

  /** Whether the same request may succeed later. */
  get passing(): boolean {
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

const problemDocument = z.object({
  title: z.string().optional(),
  detail: z.string().optional(),
  code: z.string().optional(),
});

function problemOf(text: string): z.infer<typeof problemDocument> {
  try {
    return problemDocument.catch({}).parse(JSON.parse(text));
  } catch {
    return {};
  }
}

/** Caps the delay: a longer delay is a mistake, and a timer treats more than 24 days as no delay. */
const maxDelaySeconds = 3600;

function seconds(value: string | string[] | undefined): number | null {
  const number = Number(Array.isArray(value) ? value[0] : value);
  return value === undefined || !Number.isFinite(number) || number < 0 ? null : Math.min(number, maxDelaySeconds);
}

export interface PolledGoalState {
  /** Null if there is nothing new. */
  document: { text: string; etag: string } | null;
  /** Seconds until the next poll; null if the portal does not say. */
  pollAfter: number | null;
  /** Whether operators are waiting for log folders of this machine. */
  wantsLogs: boolean;
  executions: ExecutionNews;
}

/** What the portal says about executions of this machine. */
export interface ExecutionNews {
  /** The oldest execution that waits for this machine; null if there is none. */
  waiting: { stamp: number; turn: number } | null;
  /** The stamp of the execution that this machine should end; null if there is none. */
  cancel: number | null;
}

/** No news about executions. */
export const noExecutions: ExecutionNews = { waiting: null, cancel: null };

/** A part of an execution's transcript. */
export interface TranscriptPiece {
  /** Offset of the piece within the transcript. */
  from: number;
  /** Size of the whole transcript; null while the execution may still write. */
  total: number | null;
  bytes: Buffer;
}

/**
 * The portal's API for an enrolled machine. Throws PortalRefusal if the portal rejects a request, and Error if the
 * portal does not respond.
 */
export interface Portal extends ExecutionCalls {
  goalState(etag: string | null, waitSeconds: number, signal?: AbortSignal): Promise<PolledGoalState>;
  /**
   * Downloads a package to a file, resuming after the bytes that the file has. `url` is relative to the portal and must
   * not lead to another origin. Throws if there are more than `size` bytes.
   */
  downloadPackage(url: string, file: string, size: number, signal?: AbortSignal): Promise<void>;
  /** Uploads a piece of a command's complete output. */
  sendLog(piece: LogPiece, signal?: AbortSignal): Promise<void>;
  /**
   * Sends a report. Returns the ETag of the portal's goal state, or null; `refused` names entries that were not stored.
   */
  report(body: unknown): Promise<ReportAnswer>;
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
}

/** The part of the portal's API for execution plans. */
export interface ExecutionCalls {
  /**
   * Returns the envelope of the execution to do next, as JSON text; null if there is none. To ask says that nothing is
   * open on this machine.
   */
  nextExecution(signal?: AbortSignal): Promise<string | null>;
  /** Tells how far an execution is. Returns after how many seconds to tell more; null if the portal does not say. */
  sendProgress(id: string, body: ExecutionProgress, signal?: AbortSignal): Promise<number | null>;
  /** Returns how many bytes the portal has from the start without a gap. */
  sendTranscript(
    id: string,
    piece: TranscriptPiece,
    signal?: AbortSignal,
  ): Promise<{ received: number; nextAfter: number | null }>;
  /** Sends the result, given as JSON text. */
  sendResult(id: string, result: string, signal?: AbortSignal): Promise<void>;
  /** Tells the portal what this machine can run. */
  tellPlatforms(report: PlatformReport, signal?: AbortSignal): Promise<void>;
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

type PortalCall = (options: Omit<HttpCall, 'url'> & { path: string }) => Promise<PortalResponse>;

/** Returns the portal's API for an enrolled machine. `nextCall` returns the next value of the call counter. */
export function openPortal(base: string, credential: string, nextCall: () => string, call: Caller): Portal {
  const send = twiceOnConflict(inOrder(base, credential, nextCall, call));
  return {
    ...goalStateCalls(send),
    ...reportCalls(send),
    ...logCalls(send),
    ...executionCalls(send),

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
    async goalState(etag, waitSeconds, signal) {
      const answer = await send({
        method: 'GET',
        path: `/agent/v1/goal-state?wait=${Math.round(waitSeconds)}`,
        headers: etag === null ? {} : { 'if-none-match': etag },
        idleSeconds: waitSeconds + 30,
        signal,
      });
      const pollAfter = seconds(answer.headers['annex-poll-after']);
      const news = { pollAfter, wantsLogs: announcesLogs(answer), executions: executionNews(answer) };
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
    async report(body) {
      const answer = await send({
        method: 'POST',
        path: '/agent/v1/reports',
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
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

function executionCalls(send: PortalCall): ExecutionCalls {
  const json = { 'content-type': 'application/json' };
  const path = (id: string, what: string) => `/agent/v1/executions/${encodeURIComponent(id)}/${what}`;
  const nextAfter = ({ headers }: PortalResponse) => seconds(headers['annex-next-after']);
  const put = async (where: string, body: string, signal?: AbortSignal) => {
    const answer = await send({ method: 'PUT', path: where, headers: json, body, idleSeconds: 30, signal });
    if (answer.status !== 204) throw new PortalRefusal(answer);
    return answer;
  };
  return {
    async nextExecution(signal) {
      const answer = await send({ method: 'GET', path: '/agent/v1/executions/next', idleSeconds: 30, signal });
      if (answer.status === 204) return null;
      if (answer.status !== 200) throw new PortalRefusal(answer);
      return answer.text;
    },

    async sendProgress(id, body, signal) {
      return nextAfter(await put(path(id, 'progress'), JSON.stringify(body), signal));
    },

    async sendTranscript(id, { from, total, bytes }, signal) {
      const answer = await send({
        method: 'POST',
        path: path(id, 'transcript'),
        headers: {
          'content-type': 'application/jsonl',
          'content-encoding': 'gzip',
          'content-range': `bytes ${from}-${from + bytes.length - 1}/${total ?? '*'}`,
        },
        body: gzipSync(bytes),
        idleSeconds: 60,
        signal,
      });
      if (answer.status !== 204) throw new PortalRefusal(answer);
      const received = Number(answer.headers['annex-output-bytes']);
      return { received: Number.isInteger(received) ? received : from + bytes.length, nextAfter: nextAfter(answer) };
    },

    async sendResult(id, result, signal) {
      await put(path(id, 'result'), result, signal);
    },

    async tellPlatforms(report, signal) {
      await put('/agent/v1/platforms', JSON.stringify(report), signal);
    },
  };
}

/** Reads `Annex-Execution: <stamp>; turn=<turn>` and `Annex-Execution-Cancel: <stamp>`. */
function executionNews({ headers }: PortalResponse): ExecutionNews {
  const [, stamp, turn] = /^(\d{1,16}); *turn=(\d{1,16})$/.exec(String(headers['annex-execution'] ?? '')) ?? [];
  const cancel = /^\d{1,16}$/.exec(String(headers['annex-execution-cancel'] ?? ''))?.[0];
  return {
    waiting: stamp === undefined ? null : { stamp: Number(stamp), turn: Number(turn) },
    cancel: cancel === undefined ? null : Number(cancel),
  };
}

export interface MachineEnrollment {
  enrollmentToken: string;
  certificate: string;
  /** Signature of the token with the certificate's key, in base64. */
  proof: string | undefined;
  os: { name: string; version: string; arch: string };
}

const enrolled = z.object({ vmId: z.string().min(1), credential: z.string().min(1), pollSeconds: z.number() });

/** Sends the token and the certificate. Returns the VM's id and credential. Throws AgentError with what to do next. */
export async function enrollAt(
  base: string,
  { enrollmentToken, certificate, proof, os }: MachineEnrollment,
  call: Caller,
): Promise<z.infer<typeof enrolled>> {
  const url = portalUrl(base, '/agent/v1/enroll');
  const agent = { name: agentName, version: agentVersion };
  const body = JSON.stringify({ enrollmentToken, certificate, proof, agent, os });
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

/** Returns a URL below the portal's base path. Throws AgentError for a URL of another origin. */
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
