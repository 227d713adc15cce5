import type { Database, Transaction } from './client.ts';

/** A statement that PostgreSQL plans once per connection. Statements with the same name must have the same text. */
export interface NamedStatement {
  name: string;
  text: string;
}

/** Runs a named statement, also in a transaction, and returns its rows as the driver reads them. */
export async function runPrepared<Row>(
  db: Pick<Database | Transaction, '_'>,
  { name, text }: NamedStatement,
  params: unknown[],
): Promise<Row[]> {
  const { rows } = (await db._.session.prepareQuery({ sql: text, params }, undefined, name, false).execute()) as {
    rows: Row[];
  };
  return rows;
}
