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
import type { SocketTables } from './socket-tables.ts';

export interface ForwarderOptions {
  gateway: URL;
  vm: string;
  token: string;
  /** Reads the token from its file again; null if the token is not from a file, or the file cannot be read. */
  rereadToken(): string | null;
  /** Returns the keep-alive connections to the gateway. */
  connections(url: URL): HttpAgent;
  tables: SocketTables;
  /** Ids of the users that have access. */
  allowUids: number[];
  /** Guest IP addresses that have access, regardless of the user. */
  clients: string[];
  journal: Journal;
  limits?: Partial<Limits>;
}

interface Limits {
  /** How long the gateway may take to respond. Must be shorter than 10 s, after which the stock agent gives up. */
  silenceMilliseconds: number;
  /** Time limits for the headers of a request and for the whole request to arrive. */
  headersMilliseconds: number;
  requestMilliseconds: number;
  bodyBytes: number;
  connections: number;
  /** Minimum time between two readings of the token file after the gateway has rejected the token. */
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
 * Statuses for which the stock agent retries for half a minute. The forwarder replaces them with a status that the
 * stock agent does not retry: the stock agent then logs the error and continues with its next round.
 */
const stopping = new Set([205, 206, 403, 429, 500, 501, 502, 503, 504, 507]);
const unavailable = 424;

/**
 * The service that receives a request: `wire` for the WireServer and instance metadata, `hgap` for the HostGAPlugin.
 */
export type WireService = 'wire' | 'hgap';

class TooLong extends Error {}

/** Relays requests from one guest's stock agent to the gateway, on behalf of its VM. */
export class Forwarder {
  private readonly options: ForwarderOptions;
  private readonly limits: Limits;
  private readonly servers: Server[] = [];
  private token: string;
  /** Identifies this run, so that the gateway can detect two forwarders with one token. */
  private readonly run = randomUUID();
  private tokenReadAt = 0;
  /** The last goal state that the gateway returned. */
  private goalState: { headers: IncomingMessage['headers']; body: Buffer } | null = null;
  private trouble: { since: number; reason: string; answeredHere: number } | null = null;
  private readonly loggedUsers = new Map<string, number>();

  constructor(options: ForwarderOptions) {
    this.options = options;
    this.limits = { ...usual, ...options.limits };
    this.token = options.token;
  }

  /** Accepts the connections of a listening socket. */
  serve(service: WireService, listening: NetServer): void {
    const { headersMilliseconds, requestMilliseconds, connections } = this.limits;
    const server = createServer(
      {
        headersTimeout: headersMilliseconds,
        requestTimeout: requestMilliseconds,
        keepAliveTimeout: 5_000,
        connectionsCheckingInterval: Math.min(1_000, headersMilliseconds),
      },
      (request, response) => void this.relay(service, request, response),
    );
    server.maxConnections = connections;
    server.timeout = requestMilliseconds;
    // A client without access is rejected before any byte is read.
    const [receive] = server.listeners('connection');
    server.removeAllListeners('connection').on('connection', (socket: Socket) => {
      if (this.hasAccess(socket)) receive?.call(server, socket);
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

  private hasAccess(socket: Socket): boolean {
    const { tables, allowUids, clients, journal } = this.options;
    const [address, port] = [socket.remoteAddress ?? '', socket.remotePort ?? 0];
    const uid = tables.uidOf({ address, port }, { address: socket.localAddress ?? '', port: socket.localPort ?? 0 });
    if (uid === null ? clients.includes(address) : allowUids.includes(uid)) return true;
    const who = uid === null ? `A connection from ${address}` : `User ${uid}`;
    const loggedAt = this.loggedUsers.get(who) ?? Number.NEGATIVE_INFINITY;
    if (performance.now() - loggedAt > 60_000) {
      if (this.loggedUsers.size > 100) this.loggedUsers.clear();
      this.loggedUsers.set(who, performance.now());
      journal.warn(`${who} was rejected: it may not act for the VM.`, { uid, address });
    }
    return false;
  }

  private async relay(service: WireService, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [method, path] = [request.method ?? '', request.url ?? ''];
    const fault = faultOf(method, path);
    if (fault !== null) return answer(response, fault.status, fault.sentence);
    if (Number(request.headers['content-length'] ?? 0) > this.limits.bodyBytes) {
      return answer(response, 413, `A body may have ${this.limits.bodyBytes} bytes.`);
    }
    try {
      const answered = await this.ask(service, method, path, request, response);
      if (stopping.has(answered.statusCode ?? 0)) {
        answered.resume();
        if (answered.statusCode === 403) this.rereadToken();
        return this.answerWithoutGateway(method, path, response, reasonOf(answered));
      }
      this.noteGatewayAnswers();
      if (isGoalState(method, path) && answered.statusCode === 200) return await this.remember(answered, response);
      response.writeHead(answered.statusCode ?? 0, responseHeaders(answered.headers));
      await pipeline(answered, response);
    } catch (error) {
      if (error instanceof TooLong) answer(response, 413, `A body may have ${this.limits.bodyBytes} bytes.`);
      else if (response.headersSent || response.destroyed) response.destroy();
      else this.answerWithoutGateway(method, path, response, sentenceOf(error));
    }
  }

  /**
   * Sends a request to the gateway and returns the response before its body is read. Rejects if the gateway is silent
   * for too long.
   */
  private async ask(
    service: WireService,
    method: string,
    path: string,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<IncomingMessage> {
    const { gateway, vm, connections } = this.options;
    const url = new URL(`${gateway.href.replace(/\/+$/, '')}/${service}/${vm}${path}`);
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
      asked.destroy(new Error(`there was no response for ${this.limits.silenceMilliseconds / 1000} s`));
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

  /**
   * Responds in place of the gateway: with the last goal state if the request is for a goal state, otherwise with a
   * status that the stock agent does not retry.
   */
  private answerWithoutGateway(method: string, path: string, response: ServerResponse, reason: string): void {
    if (this.trouble === null) {
      const without = this.goalState === null ? '' : ' The agent keeps its goal state.';
      this.options.journal.warn(`The gateway cannot be used: ${reason}.${without}`, {
        method,
        path: path.split('?')[0],
      });
    } else if (this.trouble.reason !== reason)
      this.options.journal.note(`The gateway still cannot be used: ${reason}.`);
    this.trouble = { since: performance.now(), answeredHere: 0, ...this.trouble, reason };
    this.trouble.answeredHere += 1;
    if (isGoalState(method, path) && this.goalState !== null) {
      response.writeHead(200, this.goalState.headers).end(this.goalState.body);
    } else answer(response, unavailable, 'The gateway of the portal is not responding.');
  }

  private noteGatewayAnswers(): void {
    if (this.trouble === null) return;
    const { since, answeredHere } = this.trouble;
    this.trouble = null;
    const seconds = Math.round((performance.now() - since) / 1000);
    this.options.journal.info(`The gateway is available again after ${seconds} s.`, { seconds, answeredHere });
  }

  /** Reads the token again, so that a new token takes effect with the next request. */
  private rereadToken(): void {
    if (performance.now() - this.tokenReadAt < this.limits.tokenMilliseconds) return;
    this.tokenReadAt = performance.now();
    const token = this.options.rereadToken();
    if (token === null || token === this.token) return;
    this.token = token;
    this.options.journal.info('The forwarder token was replaced.');
  }
}

function reasonOf({ statusCode }: IncomingMessage): string {
  if (statusCode !== 403) return `it answered ${statusCode}`;
  return 'it rejects this VM (403). Check the forwarder token, the VM, and that ANNEX_WIRE is on';
}

function answer(response: ServerResponse, status: number, sentence: string): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  // Closes the connection, because the rest of the request is not read.
  response.writeHead(status, { 'content-type': 'text/plain', connection: 'close' }).end(`${sentence}\n`);
}

function refuse(socket: Socket): void {
  const sentence = 'This is for the VM agent only.\n';
  const head = `HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: ${sentence.length}\r\nconnection: close`;
  // A client that keeps sending would otherwise occupy a connection that other clients need.
  const timer = setTimeout(() => socket.destroy(), 500);
  socket.on('error', () => {}).on('close', () => clearTimeout(timer));
  // Discards unread input, which would otherwise reset the connection and lose the response.
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
