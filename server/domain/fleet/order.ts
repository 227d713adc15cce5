import { type SQL, sql } from 'drizzle-orm';
import { readCursor, writeCursor } from '#server/domain/cursor.ts';
import { DomainError } from '#server/domain/error.ts';
import type { FleetSource } from './filter.ts';
import { type FleetSort, fleetSorts } from './input.ts';

/** One column of a sort order: how rows are compared, and how a cursor stores the value. */
interface Key {
  column: SQL;
  text: SQL;
  form: RegExp;
  value(text: string): SQL;
}

const nameKey: Key = { column: sql`h.name`, text: sql`h.name`, form: /^/, value: (text) => sql`${text}` };
const rankKey: Key = {
  column: sql`h.rank`,
  text: sql`h.rank::text`,
  form: /^\d$/,
  value: (text) => sql`${text}::smallint`,
};
/** Microseconds since 1970, because PostgreSQL stores times with this precision. */
const sinceKey: Key = {
  column: sql`h.since`,
  text: sql`(extract(epoch from h.since) * 1000000)::bigint::text`,
  form: /^\d{1,17}$/,
  value: (text) => sql`(timestamptz 'epoch' + ${text}::bigint * interval '1 microsecond')`,
};

function idKey(id: SQL): Key {
  const form = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  return { column: id, text: sql`${id}::text`, form, value: (text) => sql`${text}::uuid` };
}

/** The parts of a sort order that a list's query and its cursors need. */
export interface FleetOrder {
  by: SQL;
  /** The sort keys of a row as an array of texts. */
  keys: SQL;
  /** Returns the condition on rows after a cursor. Throws 400 `cursor_invalid` or `cursor_other_order`. */
  after(cursor: string): SQL;
  write(keys: readonly string[]): string;
}

/** Returns a sort order. Its last key is the id, so that no rows with equal keys are skipped. */
export function fleetOrder(sort: FleetSort, { id }: FleetSource): FleetOrder {
  const first = { name: [nameKey], health: [rankKey, nameKey], since: [sinceKey] };
  const descends = sort.startsWith('-');
  const field = sort.replace('-', '') as keyof typeof first;
  const keys = [...first[field], idKey(id)];
  const columns = keys.map(({ column }) => column);
  return {
    by: sql.join(
      columns.map((column) => (descends ? sql`${column} desc` : column)),
      sql`, `,
    ),
    keys: sql`array[${sql.join(
      keys.map(({ text }) => text),
      sql`, `,
    )}]`,
    after(cursor) {
      const [of, ...texts] = readCursor(cursor);
      if (of !== sort && isSort(of)) throw new DomainError('bad_request', 'cursor_other_order');
      if (of !== sort || texts.length !== keys.length || keys.some(({ form }, at) => !form.test(texts[at] ?? ''))) {
        throw new DomainError('bad_request', 'cursor_invalid');
      }
      const place = sql.join(
        keys.map((key, at) => key.value(texts[at] ?? '')),
        sql`, `,
      );
      return sql`(${sql.join(columns, sql`, `)}) ${sql.raw(descends ? '<' : '>')} (${place})`;
    },
    write: (texts) => writeCursor([sort, ...texts]),
  };
}

const isSort = (text: string | undefined): boolean => fleetSorts.some((sort) => sort === text);
