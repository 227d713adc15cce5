import { randomUUID } from 'node:crypto';
import {
  createServer,
  type Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Server as NetServer, Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { sentenceOf } from '../agent-error.ts';
import type { Journal } from '../journal.ts';
import { requestHeaders, responseHeaders } from './headers.ts';
import { faultOf, isGoalState } from './request-path.ts';
import type { SocketTables } from './who-connects.ts';

export interface ForwarderOptions {
  gateway: URL;
  vm: string;
  token: string;
  /** The token as it stands in its file now; null where it has none. */
  readTokenAgain(): string | null;
  /** Kept connections to the gateway. */
  connections(url: URL): HttpAgent;
  tables: SocketTables;
  /** Users of this machine who are let in. */
  allowUids: number[];
  /** Addresses of guests that are let in, whoever it is there. */
  clients: string[];
  journal: Journal;
  limits?: Partial<Limits>;
}

interface Limits {
  /** The agent gives up after 10 s of silence, so an answer has to be there before. */
  silenceMilliseconds: number;
  /** How long a request may take to arrive, headers alone and as a whole. */
  headersMilliseconds: number;
  requestMilliseconds: number;
  bodyBytes: number;
  connections: number;
  /** How often a token that is refused is read again. */
  tokenMilliseconds: number;
}

const usual: Limits = {
  silenceMilliseconds: 8_000,
  headersMilliseconds: 10_000,
  requestMilliseconds: 60_000,
  bodyBytes: 64 * 1024 * 1024,
  connections: 64,
  tokenMilliseconds: 5_000,
};

/**
 * Answers for which the stock agent waits for half a minute, trying again. What it gets instead is in none of its lists:
 * it writes that down and goes on with its next round.
 */
const stopping = new Set([205, 206, 403, 429, 500, 501, 502, 503, 504, 507]);
const unavailable = 424;

/** What the gateway is asked for, `wire` on the address of the WireServer and `hgap` on that of the HostGAPlugin. */
export type Door = 'wire' | 'hgap';

class TooLong extends Error {}

/** Relays what one guest's agent asks to the gateway, in the name of that VM. */
export class Forwarder {
  private readonly options: ForwarderOptions;
  private readonly limits: Limits;
  private readonly servers: Server[] = [];
  private token: string;
  /** Tells the gateway two forwarders with one token apart: made anew at each start. */
  private readonly run = randomUUID();
  private tokenReadAt = 0;
  /** The last goal state that the gateway gave. */
  private goalState: { headers: IncomingMessage['headers']; body: Buffer } | null = null;
  private trouble: { since: number; reason: string; answeredHere: number } | null = null;
  private readonly toldUsers = new Map<string, number>();

  constructor(options: ForwarderOptions) {
    this.options = options;
    this.limits = { ...usual, ...options.limits };
    this.token = options.token;
  }

  /** Takes the connections of a listening socket. */
  serve(door: Door, listening: NetServer): void {
    const { headersMilliseconds, requestMilliseconds, connections } = this.limits;
    const server = createServer(
      {
        headersTimeout: headersMilliseconds,
        requestTimeout: requestMilliseconds,
        keepAliveTimeout: 5_000,
        connectionsCheckingInterval: Math.min(1_000, headersMilliseconds),
      },
      (request, response) => void this.relay(door, request, response),
    );
    server.maxConnections = connections;
    server.timeout = requestMilliseconds;
    // Whoever may not be here is sent away before a byte is read.
    const [receive] = server.listeners('connection');
    server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      if (this.isWelcome(socket)) receive?.call(server, socket);
      else refuse(socket);
    });
    server.listen(listening);
    this.servers.push(server);
  }

  close(): void {
    for (const server of this.servers) {
      server.close();
      server.closeAllConnections();
    }
    this.options.tables.close();
  }

  private isWelcome(socket: Socket): boolean {
    const { tables, allowUids, clients, journal } = this.options;
    const [address, port] = [socket.remoteAddress ?? '', socket.remotePort ?? 0];
    const uid = tables.uidOf({ address, port }, { address: socket.localAddress ?? '', port: socket.localPort ?? 0 });
    if (uid === null ? clients.includes(address) : allowUids.includes(uid)) return true;
    const who = uid === null ? `A connection from ${address}` : `User ${uid}`;
    const told = this.toldUsers.get(who) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - told > 60_000) {
      if (this.toldUsers.size > 100) this.toldUsers.clear();
      this.toldUsers.set(who, performance.now());
      journal.warn(`${who} wanted to speak for the VM, and was refused.`, { uid, address });
    }
    return false;
  }

  private async relay(door: Door, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [method, path] = [request.method ?? '', request.url ?? ''];
    const fault = faultOf(method, path);
    if (fault !== null) return answer(response, fault.status, fault.sentence);
    if (Number(request.headers['content-length'] ?? 0) > this.limits.bodyBytes) {
      return answer(response, 413, `A body may have ${this.limits.bodyBytes} bytes.`);
    }
    try {
      const answered = await this.ask(door, method, path, request, response);
      if (stopping.has(answered.statusCode ?? 0)) {
        answered.resume();
        if (answered.statusCode === 403) this.readTokenAgain();
        return this.standIn(method, path, response, reasonOf(answered));
      }
      this.goesOn();
      if (isGoalState(method, path) && answered.statusCode === 200) return await this.remember(answered, response);
      response.writeHead(answered.statusCode ?? 0, responseHeaders(answered.headers));
      await pipeline(answered, response);
    } catch (error) {
      if (error instanceof TooLong) answer(response, 413, `A body may have ${this.limits.bodyBytes} bytes.`);
      else if (response.headersSent || response.destroyed) response.destroy();
      else this.standIn(method, path, response, sentenceOf(error));
    }
  }

  /** The gateway's answer, without its body. Rejects where there is none in time. */
  private async ask(
    door: Door,
    method: string,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<IncomingMessage> {
    const { gateway, vm, connections } = this.options;
    const url = new URL(`${gateway.href.replace(/\/+$/, '')}/${door}/${vm}${path}`);
    const asked = (gateway.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
      method,
      agent: connections(gateway),
      headers: requestHeaders(request.headers, this.token, this.run),
      timeout: this.limits.silenceMilliseconds,
    });
    response.once('close', () => {
      if (!response.writableFinished) asked.destroy();
    });
    asked.on('timeout', () => {
      asked.destroy(new Error(`nothing was heard for ${this.limits.silenceMilliseconds / 1000} s`));
    });
    return await new Promise((resolve, reject) => {
      asked.on('response', resolve);
      asked.on('error', reject);
      pipeline(request, atMost(this.limits.bodyBytes), asked).catch(reject);
    });
  }

  private async remember(answered: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await Array.fromAsync(atMost(this.limits.bodyBytes)(answered)));
    this.goalState = { headers: responseHeaders(answered.headers), body };
    response.writeHead(200, this.goalState.headers).end(body);
  }

  /** What the agent hears while the gateway does not say anything that it could use. */
  private standIn(method: string, path: string, response: ServerResponse, reason: string): void {
    if (this.trouble === null) {
      const without = this.goalState === null ? '' : ' The agent keeps its goal state meanwhile.';
      this.options.journal.warn(`The gateway is of no help: ${reason}.${without}`, {
        method,
        path: path.split('?')[0],
      });
    } else if (this.trouble.reason !== reason) this.options.journal.note(`Still of no help: ${reason}.`);
    this.trouble = { since: performance.now(), answeredHere: 0, ...this.trouble, reason };
    this.trouble.answeredHere += 1;
    if (isGoalState(method, path) && this.goalState !== null) {
      response.writeHead(200, this.goalState.headers).end(this.goalState.body);
    } else answer(response, unavailable, 'The gateway of the portal does not answer now.');
  }

  private goesOn(): void {
    if (this.trouble === null) return;
    const { since, answeredHere } = this.trouble;
    this.trouble = null;
    const seconds = Math.round((performance.now() - since) / 1000);
    this.options.journal.info(`The gateway answers again after ${seconds} s.`, { seconds, answeredHere });
  }

  /** A token that was given anew counts from the next request on. */
  private readTokenAgain(): void {
    if (performance.now() - this.tokenReadAt < this.limits.tokenMilliseconds) return;
    this.tokenReadAt = performance.now();
    const token = this.options.readTokenAgain();
    if (token === null || token === this.token) return;
    this.token = token;
    this.options.journal.info('The guest token is another now.');
  }
}

function reasonOf({ statusCode }: IncomingMessage): string {
  if (statusCode !== 403) return `it answered ${statusCode}`;
  return 'it refuses this VM (403). Check the guest token, the VM, and that ANNEX_WIRE is on';
}

function answer(response: ServerResponse, status: number, sentence: string): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  // What is still on its way is not read.
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${sentence}\n`);
}

function refuse(socket: Socket): void {
  const sentence = 'This is for the VM agent only.\n';
  const head = `HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: ${sentence.length}\r\nconnection: close`;
  // Whatever it goes on saying: it takes the place of one that is welcome.
  const timer = setTimeout(() => socket.destroy(), 500);
  socket.on('error', () => {}).on('close', () => clearTimeout(timer));
  // What it says is thrown away: unread, it would take the answer back.
  socket.resume().end(`${head}\r\n\r\n${sentence}`);
}

function atMost(room: number) {
  return async function* (chunks: AsyncIterable<Buffer>) {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > room) throw new TooLong();
      yield chunk;
    }
  };
}
