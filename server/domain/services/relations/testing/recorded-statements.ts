import pg from 'pg';

/**
 * Returns every statement that this process sends during `run`, with the values of its parameters, as a log of all
 * statements on the server would have them.
 */
export async function recordedStatements(run: () => Promise<unknown>): Promise<string> {
  const statements: string[] = [];
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    statements.push(JSON.stringify(args));
    return Reflect.apply(query, this, args);
  } as typeof query;
  try {
    await run();
  } finally {
    pg.Client.prototype.query = query;
  }
  return statements.join('\n');
}
