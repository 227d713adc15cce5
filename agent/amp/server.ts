import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { AmpConnection, type Responder, type Timer } from './connection.ts';
import { clearSocket, placeSocket, type SocketPlace, socketPlaceOf } from './socket-place.ts';

export interface AmpServerOptions {
  respond: Responder;
  /** Receives errors that are faults of the agent; by default, none. */
  onFault?(error: unknown): void;
  timer?: Timer;
}

const maxConnections = 64;

/** A server of AMP on a Unix socket that only the agent's user can open. */
export class AmpServer {
  private readonly server: Server;
  private readonly place: SocketPlace;
  private readonly options: Required<AmpServerOptions>;
  /** Open connections; the one that was used last is at the end. */
  private readonly connections = new Map<Socket, AmpConnection>();

  private constructor(place: SocketPlace, options: AmpServerOptions) {
    this.place = place;
    this.options = { timer: startTimer, onFault: () => {}, ...options };
    this.server = createServer((socket) => this.accept(socket));
  }

  /**
   * Listens at `path`, or at another path that is linked there if `path` is too long for the kernel. A socket that an
   * earlier agent left there is replaced.
   */
  static async listen(path: string, options: AmpServerOptions): Promise<AmpServer> {
    clearSocket(path);
    const server = new AmpServer(socketPlaceOf(path), options);
    await server.begin();
    return server;
  }

  /** The path for `ENSEMBLE_SOCKET`. */
  get path(): string {
    return this.place.socket;
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const connection of this.connections.values()) connection.close();
    await closed;
    clearSocket(this.place.path);
    rmSync(this.place.socket, { force: true });
  }

  private async begin(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(this.place.fresh, () => resolve());
    });
    placeSocket(this.place);
  }

  private accept(socket: Socket): void {
    if (this.connections.size >= maxConnections && !this.closeIdle()) {
      socket.destroy();
      return;
    }
    const connection = new AmpConnection(socket, this.options);
    this.connections.set(socket, connection);
    socket.on('data', () => {
      this.connections.delete(socket);
      this.connections.set(socket, connection);
    });
    socket.on('close', () => this.connections.delete(socket));
  }

  /** Closes the connection that was idle for the longest time. Returns false if all are waiting for an answer. */
  private closeIdle(): boolean {
    for (const [socket, connection] of this.connections) {
      if (connection.underWay > 0) continue;
      this.connections.delete(socket);
      connection.close();
      return true;
    }
    return false;
  }
}

function startTimer(seconds: number, action: () => void): () => void {
  const timer = setTimeout(action, seconds * 1000);
  return () => clearTimeout(timer);
}
