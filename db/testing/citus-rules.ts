import type pg from 'pg';

/** How `db/distribute.sql` distributes each table. */
export interface Distribution {
  reference: ReadonlySet<string>;
  /** Distribution column by table. All these tables are colocated. */
  distributed: ReadonlyMap<string, string>;
}

export function readDistribution(script: string): Distribution {
  const calls = [...script.matchAll(/^select create_(reference|distributed)_table\('(\w+)'(?:, '(\w+)')?/gm)];
  return {
    reference: new Set(calls.filter(([, kind]) => kind === 'reference').map(([, , table = '']) => table)),
    distributed: new Map(
      calls.filter(([, kind]) => kind === 'distributed').map(([, , table = '', column = '']) => [table, column]),
    ),
  };
}

/**
 * Returns the tables that are neither distributed nor reference tables, not counting partitions. They remain on the
 * coordinator.
 */
export async function localTables(db: pg.Pool, { reference, distributed }: Distribution): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  );
  return rows.map(({ name }) => name).filter((name) => !reference.has(name) && !distributed.has(name));
}

/** Returns a sentence for each part of the schema that Citus would reject. */
export async function schemaFaults(db: pg.Pool, { reference, distributed }: Distribution): Promise<string[]> {
  const faults: string[] = [];
  const unique = await db.query<{ name: string; table: string; columns: string[] }>(
    `select i.indexrelid::regclass::text as name, i.indrelid::regclass::text as table,
       array(select a.attname from unnest(i.indkey) k join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k)::text[] as columns
     from pg_index i join pg_class c on c.oid = i.indrelid
     where i.indisunique and c.relnamespace = 'public'::regnamespace and not c.relispartition order by 1`,
  );
  for (const { name, table, columns } of unique.rows) {
    const column = distributed.get(table);
    if (column !== undefined && !columns.includes(column)) faults.push(`${name} is unique without ${column}`);
  }
  const keys = await db.query<{ table: string; target: string; columns: string[]; targets: string[] }>(
    `select conrelid::regclass::text as table, confrelid::regclass::text as target,
       array(select attname from unnest(conkey) k join pg_attribute on attrelid = conrelid and attnum = k)::text[] as columns,
       array(select attname from unnest(confkey) k join pg_attribute on attrelid = confrelid and attnum = k)::text[] as targets
     from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = 'public'::regnamespace order by 1, 2`,
  );
  for (const { table, target, columns, targets } of keys.rows) {
    const [column, other] = [distributed.get(table), distributed.get(target)];
    const together = columns.some((name, i) => name === column && targets[i] === other);
    if (other !== undefined && !together) faults.push(`${table} points to ${target}, which is spread otherwise`);
    const stays = !reference.has(target) && other === undefined;
    if (stays && (column !== undefined || reference.has(table))) {
      faults.push(`${table} points to ${target}, which stays on the coordinator`);
    }
  }
  return faults;
}

/** Where a statement runs. `its rows`: each row goes to its own shard; `refused`: Citus would reject the statement. */
export type Reach = 'coordinator' | 'one shard' | 'its rows' | 'all shards' | 'refused';

/**
 * Classifies a statement by its text: whether each distributed table is restricted to one VM by a parameter, joined by
 * the VM, or read on all shards. This is sufficient for Annex's statements.
 */
export function reachOf(statement: string, { distributed }: Distribution): Reach {
  const text = statement
    .replaceAll(/'[^']*'/g, "''")
    .replaceAll('"', '')
    .toLowerCase();
  const names = [...distributed.keys()].join('|');
  const count = (pattern: string): number => [...text.matchAll(new RegExp(pattern, 'g'))].length;
  const inserts = count(`\\binto (?:${names})\\b`);
  const reads = count(`\\b(?:from|join|update|using) (?:only )?(?:${names})\\b`);
  if (inserts + reads === 0) return 'coordinator';
  const column = `(?:\\w+\\.)?(?:${[...new Set(distributed.values())].join('|')})`;
  const predicates = count(`${column} (?:=|in) |${column} = any|using \\(${column}\\)`);
  const isPinned = count(`${column} = \\$\\d`) > 0 || (reads === 0 && count('\\bvalues \\(') > 0);
  if (isPinned && predicates >= reads) return 'one shard';
  const changesInside = /\bas (?:not )?(?:materialized )?\(\s*(?:insert|update|delete)\b/.test(text);
  if (changesInside || /\bfor (?:no key )?(?:update|share)\b/.test(text)) return 'refused';
  return reads === 0 ? 'its rows' : 'all shards';
}
