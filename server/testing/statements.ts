import pg from 'pg';

/** Matches the statements of the agent API's timers, which write sightings, look up changes and test connections. */
const byItself = /goal_state_heads where published_at >= |with seen as materialized|^select 1$/i;
const begins = /^\s*begin\b/i;
const ends = /^\s*(commit|rollback)\b/i;

/**
 * Open transactions, by client, and whether a call or a timer began each transaction. No statement in a timer's
 * transaction belongs to a call.
 */
const transactions = new WeakMap<pg.Client, 'of a call' | 'of a timer'>();
const counting = new Set<string[]>();

// The method is replaced permanently, because a timer's transaction can start before the calls whose statements are
// counted.
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
  const [config] = args as [string | { text?: string } | undefined];
  const text = typeof config === 'string' ? config : config?.text;
  if (text !== undefined) note(this, text);
  return Reflect.apply(query, this, args);
} as typeof query;

function note(client: pg.Client, text: string): void {
  if (begins.test(text)) transactions.set(client, 'of a call');
  else if (ends.test(text)) transactions.delete(client);
  else if (byItself.test(text)) {
    if (transactions.has(client)) transactions.set(client, 'of a timer');
  } else if (transactions.get(client) !== 'of a timer') for (const statements of counting) statements.push(text);
}

/** Returns the statements that this process sends during `run`, without those of timers, `begin` and `commit`. */
export async function statementsOf(run: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  counting.add(statements);
  try {
    await run();
  } finally {
    counting.delete(statements);
  }
  return statements;
}
