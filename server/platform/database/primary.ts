import pg from 'pg';
import { type DatabaseAddress, readDatabaseUrl } from './address.ts';

type Host = DatabaseAddress['hosts'][number];

/** Timeout, in milliseconds, of each connection attempt and each query in the search for the primary. */
const askWithin = 2_000;

/** Thrown if no host can be used as the primary. The message names the hosts, without passwords. */
class NoPrimaryError extends Error {
  override readonly name = 'NoPrimaryError';
  readonly code = 'ENOPRIMARY';
}

export interface PrimaryOptions {
  /**
   * Called if the primary is on a different timeline than it was at the first connection, because a replica was
   * promoted. Acknowledged commits may be lost. The new connection is rejected.
   */
  onOtherLife?(): void;
}

/** What `pg.Pool` and `pg.Client` need to reach the primary among several hosts, before and after a failover. */
export interface Primary {
  connectionString: string;
  Client: typeof pg.Client;
  /**
   * Checks again which host is the primary, because a connection that hangs reports no error. Throws if no host can be
   * used.
   */
  check(): Promise<void>;
}

export function toPrimary(databaseUrl: string, options: PrimaryOptions = {}): Primary {
  const { hosts, connectionString } = readDatabaseUrl(databaseUrl);
  const search = new PrimarySearch(hosts, connectionString);
  let firstLife: string | null | undefined;

  class PrimaryClient extends pg.Client {
    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error | null, client?: pg.Client) => void): void;
    override connect(callback?: (error: Error | null, client?: pg.Client) => void): Promise<pg.Client> | undefined {
      const connected = this.#connect();
      if (callback === undefined) return connected;
      connected.then(
        () => callback(null, this),
        (error: Error) => callback(error),
      );
      return undefined;
    }

    async #connect(): Promise<pg.Client> {
      const host = await search.find();
      // A broken connection may be the only sign of a failover.
      this.on('error', () => search.doubt(host));
      try {
        Object.assign(this, host);
        await super.connect();
        const refusal = await refusalOf(this);
        if (refusal !== null) throw new NoPrimaryError(`${nameOf(host)} ${refusal}`);
        const life = await lifeOf(this);
        firstLife ??= life;
        if (life !== firstLife) {
          options.onOtherLife?.();
          throw new NoPrimaryError(`${nameOf(host)} is a different copy of the database than before`);
        }
        return this;
      } catch (error) {
        search.doubt(host);
        this.end().catch(() => {});
        throw error;
      }
    }
  }
  const check = async (): Promise<void> => {
    search.forget();
    const client = new PrimaryClient({
      connectionString,
      connectionTimeoutMillis: askWithin,
      query_timeout: askWithin,
    });
    await client.connect();
    await client.end();
  };
  return { connectionString, Client: PrimaryClient, check };
}

/** Caches which host is the primary, and checks all hosts when this is in doubt. */
class PrimarySearch {
  readonly #hosts: readonly Host[];
  readonly #connectionString: string;
  #known: Host | undefined;
  #asking: Promise<Host> | undefined;

  constructor(hosts: readonly Host[], connectionString: string) {
    this.#hosts = hosts;
    this.#connectionString = connectionString;
  }

  forget(): void {
    this.#known = undefined;
  }

  doubt(host: Host): void {
    if (this.#known === host) this.#known = undefined;
  }

  async find(): Promise<Host> {
    const [only, another] = this.#hosts;
    // A single host needs no search; `connect` checks whether it is the primary.
    if (only !== undefined && another === undefined) return only;
    if (this.#known !== undefined) return this.#known;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    this.#known = await this.#asking;
    return this.#known;
  }

  /** Checks all hosts concurrently, so that a host that does not respond does not delay the others. */
  async #ask(): Promise<Host> {
    const reasons: string[] = [];
    const checks = this.#hosts.map(async (host, i) => {
      const reason = await this.#refusal(host);
      if (reason === null) return host;
      reasons[i] = `${nameOf(host)} ${reason}`;
      throw new Error(reason);
    });
    try {
      return await Promise.any(checks);
    } catch {
      throw new NoPrimaryError(`no host of DATABASE_URL is a primary: ${reasons.join(', ')}`);
    }
  }

  async #refusal(host: Host): Promise<string | null> {
    const client = new pg.Client({
      connectionString: this.#connectionString,
      connectionTimeoutMillis: askWithin,
      query_timeout: askWithin,
    });
    client.on('error', () => {});
    try {
      Object.assign(client, host);
      await client.connect();
      return await refusalOf(client);
    } catch (error) {
      const { code, message } = error as Error & { code?: string };
      return code === undefined ? `does not respond (${message})` : `does not respond (${code})`;
    } finally {
      client.end().catch(() => {});
    }
  }
}

const nameOf = ({ host, port }: Host): string => `${host}:${port}`;

/** Returns the reason why a host is not a usable primary; null for a usable primary. */
async function refusalOf(client: pg.ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ standby: boolean; closed: boolean }>(
    `select pg_is_in_recovery() as standby, current_setting('transaction_read_only') = 'on' as closed`,
  );
  if (rows[0]?.standby === true) return 'is a standby';
  return rows[0]?.closed === true ? 'accepts no writes' : null;
}

/**
 * Returns the database cluster's timeline, which changes when a replica is promoted; null if the host does not provide
 * it.
 */
async function lifeOf(client: pg.ClientBase): Promise<string | null> {
  return client.query<{ life: string }>('select left(pg_walfile_name(pg_current_wal_lsn()), 8) as life').then(
    ({ rows }) => rows[0]?.life ?? null,
    (error: { code?: unknown }) => {
      if (typeof error.code === 'string' && /^(42|0A|55)/.test(error.code)) return null;
      throw error;
    },
  );
}
