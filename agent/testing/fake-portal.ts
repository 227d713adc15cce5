import { createHash, randomUUID, verify, X509Certificate } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { GoalState, GoalStateExtension, HandlerEntry } from '#protocol/index.ts';
import type { UnitDesk } from './unit-desk.ts';

export interface ReceivedReport {
  run: string;
  reportNumber: number;
  appliedEtag?: string;
  handlers: (HandlerEntry & Record<string, unknown>)[];
  heartbeats: { extension: string; ageSeconds: number; readSecondsAgo: number; file: unknown }[];
  statuses: {
    extension: string;
    sequenceNumber: number;
    ageSeconds: number;
    readSecondsAgo: number;
    file: { status: { status: string } }[];
  }[];
  problems?: { about: string; message: string }[];
  pendingRestart?: { handler: string; version: string; extensions: string[]; requestedSecondsAgo: number }[];
}

export type GoalInput = Partial<GoalStateExtension> & Pick<GoalStateExtension, 'name' | 'handler' | 'version'>;

/** A small server with the contract's agent API that records what it receives. */
export interface FakePortal {
  url: string;
  vmId: string;
  reports: ReceivedReport[];
  /** `METHOD path` of every request, in order. */
  calls: string[];
  /** The counters in the `Annex-Agent` headers, in order. */
  counters: number[];
  addPackage(handler: string, version: string, zip: Buffer): void;
  /** Replaces the bytes of every package. */
  replacePackages(zip: Buffer): void;
  setGoal(extensions: GoalInput[], turn?: number): void;
  /** Adds a waiting execution and announces it to the agent. */
  queue(envelope: Record<string, unknown> | string): void;
  /** Serves this text as the goal state, even if it is invalid. */
  setGoalText(text: string, etag?: string): void;
  /** While true, every connection is cut off. */
  away: boolean;
  /** Complete outputs, by `extension sequence command attempt`. */
  logs: Map<string, Buffer>;
  /** Requests to renew the certificate. */
  renewals: { certificate: string; proof: string }[];
  /** Versions that agents sent after an update. */
  described: { name: string; version: string }[];
  /** Archives that operators are waiting for, and archives that have arrived. */
  wantedLogs: { id: string; handler: string }[];
  archives: Map<string, Buffer>;
  /** The `Range` headers of package requests; '' if there was none. */
  ranges: string[];
  /** Package downloads to cut off: the next `times` downloads, after `after` bytes, once `when` returns true. */
  cutPackages: { after: number; times: number; when(): boolean };
  /** The problem in the response to every request except the enrollment; null for none. */
  refuse: { status: number; code: string } | null;
  /** Number of package requests that must arrive before the portal responds to any of them. */
  packagesTogether: number;
  /**
   * The agent that the portal serves; null for none. `sha256` replaces the digest of the bytes, to simulate a damaged
   * file. `status` replaces the status 200 of the download. The portal sends half of the file immediately, and the
   * rest once `gate` resolves.
   */
  served: {
    version: string;
    bytes: Buffer;
    sha256?: string;
    size?: number;
    minimumNode?: string;
    node?: { version: string; system: string };
    status?: number;
    gate?: Promise<void>;
  } | null;
  /** Number of downloads of the agent that have begun. */
  agentDownloads: number;
  /**
   * Status of the responses to the next `times` reports. `retryAfter` is the requested pause in seconds; 0 by default.
   */
  refuseReports: { status: number; times: number; retryAfter?: number };
  /** The units of this machine; null if the portal has no units. */
  units: UnitDesk | null;
  /** Makes the portal answer the requests that it holds, if something has changed for them. */
  changed(): void;
  /** Executions for this machine, and the data that the agent sent about them. */
  executions: FakeExecutions;
  /** Calls `pick` now and whenever a request arrives, until `pick` returns a value. Rejects after 15 seconds. */
  until<T>(what: string, pick: () => T | undefined | false | null): Promise<T>;
  close(): Promise<void>;
}

const patienceMilliseconds = 15_000;
const timeouts = { install: 30, update: 30, enable: 30, disable: 30, uninstall: 30 };

export interface FakeExecutions {
  /** Envelopes of the waiting executions, oldest first. A string is served unchanged. */
  waiting: (Record<string, unknown> | string)[];
  /** Stamp of the execution that the machine should end; null if there is none. */
  cancel: number | null;
  /** Reported progress as `<execution> <state> <run>`, in order, without consecutive repeats. */
  progress: string[];
  /** Transcripts by execution. */
  transcripts: Map<string, Buffer>;
  results: { id: string; text: string }[];
  platforms: unknown[];
}

export async function fakePortal(): Promise<FakePortal> {
  const packages = new Map<string, { handler: string; version: string; zip: Buffer; sha256: string }>();
  const waiters = new Set<() => void>();
  const vmId = randomUUID();
  let incarnation = 0;
  let asking = 0;
  /** The news about executions in the last response to a poll. */
  let lastNews = '{}';
  let text = JSON.stringify({ protocol: 1, vmId, incarnation, extensions: [] });
  let given: string | undefined;
  const etag = () => given ?? `"e1-${createHash('sha256').update(text).digest('hex').slice(0, 12)}"`;
  const changed = () => {
    for (const waiter of [...waiters]) waiter();
  };

  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://portal.test');
    portal.calls.push(`${request.method} ${url.pathname}`);
    if (portal.away) {
      request.socket.destroy();
      changed();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    if (url.pathname.startsWith('/install/')) return serveAgent(response, url.pathname);
    if (url.pathname === '/agent/v1/enroll') {
      if (!isProven(body)) return void response.writeHead(422).end(JSON.stringify({ detail: 'no proof of the key' }));
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ vmId, credential: 'credential-1', pollSeconds: 1 }));
      return;
    }
    if (request.headers.authorization !== 'Bearer credential-1') return void response.writeHead(401).end();
    portal.counters.push(Number(String(request.headers['annex-agent']).split('; ')[1]));
    if (portal.refuse !== null) {
      response.writeHead(portal.refuse.status).end(JSON.stringify(portal.refuse));
      changed();
      return;
    }
    if (url.pathname === '/agent/v1/goal-state') return await goalState(request, response, url);
    if (url.pathname.startsWith('/agent/v1/packages/')) {
      asking += 1;
      changed();
      await portal.until('packages asked for together', () => asking >= portal.packagesTogether);
      return sendPackage(request, response, packages.get(url.pathname.slice('/agent/v1/packages/'.length))?.zip);
    }
    if (url.pathname.startsWith('/agent/v1/logs/')) return takeLog(request, response, url, body);
    if (url.pathname === '/agent/v1/log-requests') {
      response.writeHead(200).end(JSON.stringify({ requests: portal.wantedLogs }));
      return;
    }
    const archive = /^\/agent\/v1\/log-requests\/([^/]+)\/archive$/.exec(url.pathname)?.[1];
    if (archive !== undefined) {
      portal.archives.set(archive, body);
      portal.wantedLogs = portal.wantedLogs.filter(({ id }) => id !== archive);
      response.writeHead(204).end();
      changed();
      return;
    }
    if (url.pathname === '/agent/v1/certificate') {
      portal.renewals.push(JSON.parse(body.toString('utf8')) as { certificate: string; proof: string });
      response.writeHead(200).end('{}');
      changed();
      return;
    }
    if (url.pathname === '/agent/v1/agent') {
      portal.described.push(JSON.parse(body.toString('utf8')) as { name: string; version: string });
      response.writeHead(204).end();
      changed();
      return;
    }
    if (url.pathname === '/agent/v1/reports') return report(response, request, body);
    if (/^\/agent\/v1\/units(\/|$)/.test(url.pathname) && portal.units !== null) {
      const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
      const range = request.headers['content-range'];
      const given = portal.units.answer(request.method ?? '', url.pathname, url.searchParams, plain, range);
      response.writeHead(given.status, given.headers).end(given.body === undefined ? '' : JSON.stringify(given.body));
      changed();
      return;
    }
    if (url.pathname === '/agent/v1/platforms') {
      portal.executions.platforms.push(JSON.parse(body.toString('utf8')));
      response.writeHead(204).end();
      return;
    }
    if (url.pathname.startsWith('/agent/v1/executions/')) return execution(request, response, url, body);
    response.writeHead(404).end();
  }

  function serveAgent(response: ServerResponse, path: string): void {
    const { served } = portal;
    if (served === null) return void response.writeHead(404).end();
    if (path === '/install/agent.mjs') return void sendAgent(response, served);
    const sha256 = served.sha256 ?? createHash('sha256').update(served.bytes).digest('hex');
    const { version, minimumNode = '24.5', node } = served;
    const { size = served.bytes.length } = served;
    response
      .writeHead(200)
      .end(JSON.stringify({ version, path: '/install/agent.mjs', sha256, size, minimumNode, node }));
  }

  async function sendAgent(
    response: ServerResponse,
    { bytes, status = 200, gate }: NonNullable<FakePortal['served']>,
  ): Promise<void> {
    const half = bytes.length / 2;
    response.writeHead(status, { 'content-length': bytes.length, location: '/install/agent.json' });
    response.write(bytes.subarray(0, half));
    portal.agentDownloads += 1;
    changed();
    await gate;
    response.end(bytes.subarray(half));
  }

  function sendPackage(request: IncomingMessage, response: ServerResponse, zip: Buffer | undefined): void {
    if (zip === undefined) return void response.writeHead(404).end();
    portal.ranges.push(request.headers.range ?? '');
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const bytes = zip.subarray(from);
    response.writeHead(from > 0 ? 206 : 200, { 'content-length': bytes.length });
    if (portal.cutPackages.times === 0) return void response.end(bytes);
    portal.cutPackages.times -= 1;
    const { after, when } = portal.cutPackages;
    response.write(bytes.subarray(0, after));
    const look = setInterval(() => when() && response.destroy(), 20);
    response.on('close', () => clearInterval(look));
  }

  function takeLog(request: IncomingMessage, response: ServerResponse, url: URL, body: Buffer): void {
    const [, from = '', total = ''] = /^bytes (\d+)-\d+\/(\d+)$/.exec(request.headers['content-range'] ?? '') ?? [];
    const { searchParams: asked, pathname } = url;
    const name = decodeURIComponent(pathname.slice('/agent/v1/logs/'.length));
    const key = [name, asked.get('sequence'), asked.get('command'), asked.get('attempt')].join(' ');
    const whole = portal.logs.get(key) ?? Buffer.alloc(0);
    if (whole.length !== Number(from)) return void response.writeHead(400).end(`expected ${whole.length} of ${total}`);
    portal.logs.set(key, Buffer.concat([whole, gunzipSync(body)]));
    response.writeHead(204).end();
    changed();
  }

  function execution(request: IncomingMessage, response: ServerResponse, url: URL, body: Buffer): void {
    const { executions } = portal;
    const [id = '', what] = url.pathname.slice('/agent/v1/executions/'.length).split('/');
    if (id === 'next') {
      const next = executions.waiting.shift();
      if (next === undefined) return void response.writeHead(204).end();
      return void response.writeHead(200).end(typeof next === 'string' ? next : JSON.stringify(next));
    }
    if (what === 'progress') {
      const { state, run } = JSON.parse(body.toString('utf8')) as { state: string; run: number };
      const line = `${id} ${state} ${run}`;
      if (executions.progress.at(-1) !== line) executions.progress.push(line);
    } else if (what === 'transcript') {
      const [, from = ''] = /^bytes (\d+)-/.exec(request.headers['content-range'] ?? '') ?? [];
      const before = executions.transcripts.get(id) ?? Buffer.alloc(0);
      executions.transcripts.set(id, Buffer.concat([before.subarray(0, Number(from)), gunzipSync(body)]));
    } else executions.results.push({ id, text: body.toString('utf8') });
    response.writeHead(204, { 'annex-next-after': '1' }).end();
    changed();
  }

  async function goalState(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const held = request.headers['if-none-match'];
    const wait = Number(url.searchParams.get('wait') ?? 0);
    const stamp = request.headers['annex-units'];
    const isSameStamp = () => stamp === undefined || portal.units === null || stamp === `"${portal.units.stamp}"`;
    if (held === etag() && wait > 0 && isSameStamp()) {
      await new Promise<void>((resolve) => {
        const done = () => {
          const isSame =
            held === etag() && isSameStamp() && portal.wantedLogs.length === 0 && newsOfExecutions() === lastNews;
          if (isSame && !portal.away && !response.destroyed) return;
          clearTimeout(timer);
          waiters.delete(done);
          resolve();
        };
        const timer = setTimeout(() => {
          waiters.delete(done);
          resolve();
        }, wait * 1000);
        waiters.add(done);
        response.on('close', done);
        if (newsOfExecutions() !== lastNews) done();
      });
    }
    if (portal.away) request.socket.destroy();
    lastNews = newsOfExecutions();
    const wanted = portal.wantedLogs.length === 0 ? {} : { 'annex-log-requests': portal.wantedLogs.length };
    const stamps = portal.units === null ? {} : { 'annex-units': `"${portal.units.stamp}"` };
    const news = { ...wanted, ...stamps, ...(JSON.parse(lastNews) as object) };
    const headers = { etag: etag(), 'annex-poll-after': '0', ...news };
    if (held === etag()) response.writeHead(304, headers).end();
    else response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(text);
  }

  /** Returns the headers about executions as JSON text. */
  function newsOfExecutions(): string {
    const { waiting, cancel } = portal.executions;
    const [first] = waiting;
    const { stamp = 1, turn = 1 } = typeof first === 'object' ? first : {};
    return JSON.stringify({
      ...(first !== undefined && { 'annex-execution': `${stamp}; turn=${turn}` }),
      ...(cancel !== null && { 'annex-execution-cancel': String(cancel) }),
    });
  }

  function report(response: ServerResponse, request: IncomingMessage, body: Buffer): void {
    if (portal.refuseReports.times > 0) {
      portal.refuseReports.times -= 1;
      const { status, retryAfter = 0 } = portal.refuseReports;
      response.writeHead(status, { 'retry-after': String(retryAfter) }).end();
      changed();
      return;
    }
    const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
    portal.reports.push(JSON.parse(plain.toString('utf8')) as ReceivedReport);
    response.writeHead(204, { 'annex-goal-state': etag() }).end();
    changed();
  }

  const portal: FakePortal = {
    url: '',
    vmId,
    reports: [],
    calls: [],
    counters: [],
    logs: new Map(),
    renewals: [],
    wantedLogs: [],
    archives: new Map(),
    ranges: [],
    cutPackages: { after: 0, times: 0, when: () => true },
    refuse: null,
    units: null,
    changed,
    away: false,
    packagesTogether: 0,
    described: [],
    served: null,
    agentDownloads: 0,
    refuseReports: { status: 503, times: 0 },
    executions: { waiting: [], cancel: null, progress: [], transcripts: new Map(), results: [], platforms: [] },
    addPackage(handler, version, zip) {
      const sha256 = createHash('sha256').update(zip).digest('hex');
      packages.set(sha256, { handler, version, zip, sha256 });
    },
    replacePackages(zip) {
      for (const one of packages.values()) one.zip = zip;
    },
    setGoal(extensions, turn) {
      given = undefined;
      incarnation += 1;
      text = JSON.stringify({
        protocol: 1,
        vmId,
        incarnation,
        turn,
        extensions: extensions.map((one) => complete(one)),
      } satisfies GoalState);
      changed();
    },
    queue(envelope) {
      portal.executions.waiting.push(envelope);
      changed();
    },
    setGoalText(next, etagOfIt) {
      given = etagOfIt;
      text = next;
      changed();
    },
    until(what, pick) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = pick();
          if (found === undefined || found === false || found === null) return;
          clearTimeout(timer);
          waiters.delete(look);
          resolve(found);
        };
        const timer = setTimeout(() => {
          waiters.delete(look);
          const heard = portal.reports.flatMap(({ handlers }) =>
            handlers.map((one) => `${one.extension} ${one.state}`),
          );
          reject(new Error(`never heard: ${what}; heard ${heard.join(', ')}`));
        }, patienceMilliseconds);
        waiters.add(look);
        look();
      });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  function complete(one: GoalInput): GoalStateExtension {
    const found = [...packages.values()].find(
      ({ handler, version }) => handler === one.handler && version === one.version,
    );
    const sha256 = found?.sha256 ?? '0'.repeat(64);
    return {
      state: 'enabled',
      sequenceNumber: 1,
      dependsOn: [],
      settings: { publicSettings: {} },
      package: { sha256, size: found?.zip.length ?? 1, url: `/agent/v1/packages/${sha256}` },
      ...one,
      timeouts: { ...timeouts, ...one.timeouts },
    };
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  portal.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return portal;
}

/** Whether the token is signed with the certificate's key, as `ANNEX_ENROL_PROOF=required` demands. */
function isProven(body: Buffer): boolean {
  const { enrollmentToken, certificate, proof } = JSON.parse(body.toString()) as Record<string, string | undefined>;
  const { publicKey } = new X509Certificate(certificate ?? '');
  return verify('sha256', Buffer.from(enrollmentToken ?? ''), publicKey, Buffer.from(proof ?? '', 'base64'));
}
