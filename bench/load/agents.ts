import { hash } from 'node:crypto';

/** Names of the extensions in the bench's fleet, by what each one reports under load; `silent` reports nothing. */
export const extensionNames = { heartbeat: 'metrics', status: 'mount', silent: 'backup' } as const;

/**
 * Returns the text from which the credential of the n-th VM is derived. SQL derives the same credential
 * (fleet/seed-fleet.ts).
 */
export const credentialWord = (seed: string, n: number): string => `${seed} ${n}`;

/** The heartbeat of a healthy handler. */
export const heartbeatFile = [{ version: 1, heartbeat: { status: 'ready', code: 0 } }];
const heartbeatText = JSON.stringify(heartbeatFile);

/** Returns a credential in the portal's format: `annex_agent_` and 256 bits. */
export function credentialOf(seed: string, n: number): string {
  return `annex_agent_${hash('sha256', credentialWord(seed, n), 'base64url')}`;
}

export const instanceOf = (n: number): string => `bench-${n}`;

export interface AgentsOptions {
  /** Number of VMs, which are numbered from 1. */
  count: number;
  seed: string;
  /** ETag of the goal state that every VM of a new fleet has. */
  etag: string;
  /** Id of this run. */
  run: string;
}

/** The status in a report: none, the same status in every report, or a unique status. */
export type StatusKind = 'none' | 'unchanged' | 'changed';

/** The agents of the fleet. Each has its credential and counts its calls and reports, like a real agent. */
export class Agents {
  readonly count: number;
  readonly run: string;
  readonly #seed: string;
  readonly #etag: string;
  readonly #calls: Uint32Array;
  readonly #reports: Uint32Array;
  readonly #etags = new Map<number, string>();
  #time = '';
  #timeUntil = 0;

  constructor({ count, seed, etag, run }: AgentsOptions) {
    this.count = count;
    this.run = run;
    this.#seed = seed;
    this.#etag = etag;
    this.#calls = new Uint32Array(count + 1);
    this.#reports = new Uint32Array(count + 1);
  }

  /** Returns a `GET /goal-state` request with the agent's ETag. The gateway may hold it for `wait` seconds. */
  poll(n: number, wait = 0): string {
    const query = wait > 0 ? `?wait=${wait}` : '';
    const etag = this.#etags.get(n) ?? this.#etag;
    return `GET /agent/v1/goal-state${query} HTTP/1.1\r\n${this.#headers(n)}If-None-Match: ${etag}\r\n\r\n`;
  }

  storeEtag(n: number, etag: string): void {
    this.#etags.set(n, etag);
  }

  /** Returns a `POST /reports` request with a heartbeat and, unless `status` is `none`, a status. */
  report(n: number, status: StatusKind): string {
    return this.post(n, this.prepare(n, status).body);
  }

  /** Returns a report with the agent's next number. A changed status has a unique mark. */
  prepare(n: number, status: StatusKind): { body: string; reportNumber: number } {
    const reportNumber = (this.#reports[n] ?? 0) + 1;
    this.#reports[n] = reportNumber;
    const statuses = status === 'none' ? '' : statusEntry(status === 'changed' ? markOf(n, reportNumber) : 'unchanged');
    const body =
      `{"run":"${this.run}","reportNumber":${reportNumber},"agentTime":"${this.#now()}",` +
      `"appliedEtag":${JSON.stringify(this.#etag)},"periods":{"heartbeatSeconds":120,"statusSeconds":300},` +
      `"heartbeats":[{"extension":"${extensionNames.heartbeat}","ageSeconds":${1 + (reportNumber % 9)},` +
      `"readSecondsAgo":0,"file":${heartbeatText}}],` +
      `"statuses":[${statuses}]}`;
    return { body, reportNumber };
  }

  /** Returns the request that sends or resends a report. */
  post(n: number, body: string): string {
    return (
      `POST /agent/v1/reports HTTP/1.1\r\n${this.#headers(n)}Content-Type: application/json\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`
    );
  }

  /** Returns a request about executions; `path` follows `/executions/`. */
  execution(n: number, method: 'GET' | 'PUT', path: string, body = ''): string {
    const content = method === 'GET' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    return `${method} /agent/v1/executions/${path} HTTP/1.1\r\n${this.#headers(n)}${content}\r\n${body}`;
  }

  /** Counts a call of the n-th agent. Returns the headers with its credential, its id and the call counter. */
  headersOf(n: number): Record<'authorization' | 'annex-agent', string> {
    const counter = (this.#calls[n] ?? 0) + 1;
    this.#calls[n] = counter;
    return {
      authorization: `Bearer ${credentialOf(this.#seed, n)}`,
      'annex-agent': `${instanceOf(n)}; ${counter}`,
    };
  }

  #headers(n: number): string {
    const { authorization, 'annex-agent': agent } = this.headersOf(n);
    return `Host: bench\r\nAuthorization: ${authorization}\r\nAnnex-Agent: ${agent}\r\n`;
  }

  /** Returns the current time in ISO 8601. Formats it at most once a second. */
  #now(): string {
    const now = Date.now();
    if (now >= this.#timeUntil) {
      this.#time = new Date(now).toISOString();
      this.#timeUntil = now + 1_000;
    }
    return this.#time;
  }
}

/** Returns the mark that makes a changed status unique: the parameter of its message. */
const markOf = (n: number, reportNumber: number): string => `${n}.${reportNumber}`;

/** As many substatuses as a healthy handler typically reports, so that the entry has the usual size of 1.5 kB. */
const parts = Array.from({ length: 6 }, (_, index) => ({
  name: `volume-${index}`,
  status: 'success',
  code: 0,
  formattedMessage: {
    lang: 'en-US',
    message: `The volume ${index} of files.example.net is mounted read-write below /srv/data/${index}; 41 percent are used.`,
  },
}));

/** The JSON of a status entry, split at its mark. */
const [statusHead = '', statusTail = ''] = JSON.stringify({
  extension: extensionNames.status,
  sequenceNumber: 1,
  ageSeconds: 2,
  readSecondsAgo: 0,
  file: [
    {
      version: 1,
      timestampUTC: '2026-01-01T00:00:00Z',
      status: {
        name: 'mount.status',
        operation: 'mounting',
        status: 'transitioning',
        code: 0,
        message: { id: 'share_mounted', params: ['MARK'] },
        substatus: parts,
      },
    },
  ],
}).split('MARK');

const statusEntry = (mark: string): string => statusHead + mark + statusTail;
