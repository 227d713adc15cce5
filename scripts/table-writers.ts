import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** A module that writes to a table, and the files in which it does so. */
interface Writer {
  module: string;
  files: string[];
}

/** Which modules write to which tables. */
export interface TableWriters {
  /** The modules that write to each table, by the table's name. */
  writers: Map<string, Writer[]>;
  /** The writes whose table cannot be determined, as `file: statement`. */
  unreadable: string[];
}

const ignored = /\.(test|spec)\.tsx?$|(^|\/)testing\/|^db\/migrations\//;
const declaration = /export const (\w+) = pgTable\(\s*'(\w+)'/g;
const schemaImport = /import (?:type )?\{([^}]*)\} from '#db\/schema\/[\w-]+\.ts'/g;
const drizzleWrite = /\.(insert|update|delete)\(\s*([\w.]+)\s*\)(?:\s*\.(\w+))?/g;
const nextMethod = { insert: ['values', 'select'], update: ['set'], delete: ['where', 'returning'] };
const rawTable = String.raw`(?:only\s+)?(?:"?public"?\.)?(\$\{[^}]*\}|"?\w+"?)`;
const rawWrites = [
  new RegExp(String.raw`\b(?:insert\s+into|delete\s+from|merge\s+into|truncate(?:\s+table)?)\s+${rawTable}`, 'gi'),
  new RegExp(String.raw`\bupdate\s+${rawTable}(?:\s+(?:as\s+)?\w+)?\s+set\b`, 'gi'),
];

/** Finds every write to a table in `server/` and `db/` below `root`, and the module that contains it. */
export function tableWriters(root: string): TableWriters {
  const files = ['server', 'db'].flatMap((room) => sourceFiles(root, room));
  const tables = new Map(
    files
      .filter((file) => file.startsWith('db/schema/'))
      .flatMap((file) => [...read(root, file).matchAll(declaration)].map(([, constant, table]) => [constant, table])),
  ) as Map<string, string>;
  const found: TableWriters = { writers: new Map(), unreadable: [] };
  for (const file of files) {
    const { written, unreadable } = writesOf(read(root, file), tables);
    for (const table of written) add(found.writers, table, file);
    found.unreadable.push(...unreadable.map((statement) => `${file}: ${statement}`));
  }
  return found;
}

/** Formats each table that more than one module writes, with the modules and their files. */
export function sharedTables({ writers }: TableWriters): string[] {
  return [...writers]
    .filter(([, modules]) => modules.length > 1)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([table, modules]) => {
      const lines = modules.map(({ module, files }) => `    ${module}: ${files.join(', ')}`);
      return `${table} has ${modules.length} writers\n${lines.join('\n')}`;
    });
}

function sourceFiles(root: string, room: string): string[] {
  const top = path.join(root, room);
  if (!existsSync(top)) return [];
  return readdirSync(top, { recursive: true, encoding: 'utf8' })
    .map((file) => path.posix.join(room, file.split(path.sep).join('/')))
    .filter((file) => file.endsWith('.ts') && !ignored.test(file))
    .sort();
}

/** Returns the text of a file without its comments. */
const read = (root: string, file: string): string =>
  readFileSync(path.join(root, file), 'utf8')
    .replace(/\/\*\*?\s[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/ .*$/gm, '');

function writesOf(text: string, tables: ReadonlyMap<string, string>): { written: Set<string>; unreadable: string[] } {
  const imported = importedTables(text, tables);
  const names = new Set(tables.values());
  const written = new Set<string>();
  const unreadable: string[] = [];
  for (const [, verb, argument = '', next = ''] of text.matchAll(drizzleWrite)) {
    const table = imported.get(argument);
    if (table !== undefined) written.add(table);
    else if (nextMethod[verb as keyof typeof nextMethod].includes(next)) unreadable.push(`${verb}(${argument})`);
  }
  for (const [statement, name = ''] of rawWrites.flatMap((pattern) => [...text.matchAll(pattern)])) {
    const table = name.startsWith('$') ? imported.get(name.slice(2, -1).trim()) : name.replaceAll('"', '');
    if (table === undefined) unreadable.push(statement.replace(/\s+/g, ' '));
    else if (names.has(table)) written.add(table);
  }
  return { written, unreadable };
}

/** Returns the tables that a file imports from the schema, by their local names in the file. */
function importedTables(text: string, tables: ReadonlyMap<string, string>): Map<string, string> {
  const imported = new Map<string, string>();
  for (const [, list = ''] of text.matchAll(schemaImport)) {
    for (const part of list.split(',')) {
      const [constant = '', local = constant] = part.trim().split(/\s+as\s+/);
      const table = tables.get(constant);
      if (table !== undefined) imported.set(local, table);
    }
  }
  return imported;
}

/** Returns the module of a file: `server/domain/vms/…` → `domain/vms`, `server/auth/…` → `auth`, `db/…` → `db`. */
function moduleOf(file: string): string {
  const [room = '', folder = '', module = ''] = file.split('/');
  if (room !== 'server') return room;
  return folder === 'domain' && !module.endsWith('.ts') ? `domain/${module}` : folder;
}

function add(writers: TableWriters['writers'], table: string, file: string): void {
  const modules = writers.get(table) ?? [];
  const module = moduleOf(file);
  const known = modules.find((writer) => writer.module === module);
  if (known) known.files.push(file);
  else modules.push({ module, files: [file] });
  writers.set(table, modules);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const found = tableWriters(path.resolve(import.meta.dirname, '..'));
  const shared = sharedTables(found);
  for (const line of shared) console.log(line);
  for (const line of found.unreadable) console.log(`cannot determine the table of ${line}`);
  console.log(`figures: ${shared.length} tables with two writers`);
  process.exitCode = shared.length + found.unreadable.length > 0 ? 1 : 0;
}
