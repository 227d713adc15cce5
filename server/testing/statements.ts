import pg from 'pg';

/**
 * Matches the statements of the agent API's timers (writing sightings, looking up changes), and `begin` and `commit`.
 */
const byItself = /goal_state_heads where published_at >= |with seen as materialized|^\s*(begin|commit)\b/i;

/** Returns the statements that this process sends during `run`, without those of timers, `begin` and `commit`. */
export async function statementsOf(run: () => Promise<unknown>): Promise<string[]> {
  const statements: string[] = [];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [config] = args as [string | { text?: string } | undefined];
    const text = typeof config === 'string' ? config : config?.text;
    if (text !== undefined && !byItself.test(text)) statements.push(text);
    return Reflect.apply(query, this, args);
  } as typeof query;
  try {
    await run();
  } finally {
    pg.Client.prototype.query = query;
  }
  return statements;
}
