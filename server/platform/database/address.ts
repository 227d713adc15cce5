import pg from 'pg';

/** The hosts in a database URL, and the other connection parameters. */
export interface DatabaseAddress {
  hosts: readonly { host: string; port: number }[];
  /**
   * The URL with only the first host and without `target_session_attrs`, because node-postgres supports neither several
   * hosts nor this parameter.
   */
  connectionString: string;
}

const several = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^@/?#]*,[^@/?#]*)(.*)$/s;

/**
 * Parses a URL such as `postgres://name:password@one:5432,two:5433/annex?target_session_attrs=read-write`. Throws an
 * Error whose message completes a sentence that starts with "DATABASE_URL". The message never contains the password.
 */
export function readDatabaseUrl(url: string): DatabaseAddress {
  const [, head = '', list = '', tail = ''] = several.exec(url) ?? [];
  const alone = list === '' ? url : `${head}${(list.split(',')[0] ?? '').trim()}${tail}`;
  if (!/^postgres(ql)?:\/\//.test(url) || !URL.canParse(alone)) throw new Error('must be a postgres:// address');
  const parsed = new URL(alone);
  const session = parsed.searchParams.get('target_session_attrs') ?? 'read-write';
  if (!['read-write', 'primary'].includes(session)) {
    throw new Error('must have target_session_attrs=read-write or none: Annex writes, so it needs the primary');
  }
  const names = parsed.searchParams.has('target_session_attrs');
  parsed.searchParams.delete('target_session_attrs');
  const connectionString = names ? parsed.href : alone;
  if (list === '') {
    const { host, port } = new pg.Client({ connectionString });
    return { hosts: [{ host, port }], connectionString };
  }
  if (parsed.searchParams.has('host') || parsed.searchParams.has('port')) {
    throw new Error('must name its hosts in one place: before the name of the database, or with ?host=');
  }
  return { hosts: list.split(',').map((one) => readHost(one.trim())), connectionString };
}

function readHost(text: string): { host: string; port: number } {
  const [, six, name, port = '5432'] = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
  const host = six ?? name;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new Error('must name each of its hosts as host or host:port, separated by commas');
  }
  return { host: decodeURIComponent(host), port: Number(port) };
}
