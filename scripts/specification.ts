import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseSync } from '@swc/core';
import { readFlags } from './read-flags.ts';

const usage = `Fills the last column of the tables in docs/specification.md with the tests that name each statement.

  npm run specification [-- --check]
      --check: writes nothing, and exits with 1 if the page is stale or wrong`;

/** Path of the page that lists the statements, relative to the root. */
const page = 'docs/specification.md';

const rooms = ['agent', 'app', 'db', 'e2e', 'protocol', 'samples', 'scripts', 'server'];

/** An id of any family: two capital letters, a hyphen, an optional section letter and a number. */
const idPattern = /(?<![\w-])[A-Z]{2}-[A-Z]?\d+(?!\w)/g;

const rowPattern = /^\| ([A-Z]{2}-[A-Z]?\d+) \| (.+) \| (.*?) ?\|$/;
const notShown = /^Not shown: \S/;

/** The test files that name each statement, sorted. */
export type Evidence = ReadonlyMap<string, readonly string[]>;

/**
 * Returns every string in a source file. Comments do not count, because only a test's name shows that it covers a
 * statement.
 */
function stringsOf(source: string, isTsx: boolean): string[] {
  const strings: string[] = [];
  const visit = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return;
    const { type, value, raw } = node as { type?: unknown; value?: unknown; raw?: unknown };
    if (type === 'StringLiteral') strings.push(String(value));
    if (type === 'TemplateElement') strings.push(String(raw));
    Object.values(node).forEach(visit);
  };
  visit(parseSync(source, { syntax: 'typescript', tsx: isTsx }).body);
  return strings;
}

/** Returns the statements that the tests below `root` name, with their files. */
export function readEvidence(root: string): Evidence {
  const evidence = new Map<string, string[]>();
  const files = rooms
    .flatMap((room) => readFolder(root, room))
    .filter((file) => /\.(test|spec)\.tsx?$/.test(file))
    .sort();
  for (const file of files) {
    const source = readFileSync(path.join(root, file), 'utf8');
    if (source.search(idPattern) < 0) continue;
    const ids = stringsOf(source, file.endsWith('x')).flatMap((text) => text.match(idPattern) ?? []);
    for (const id of new Set(ids)) evidence.set(id, [...(evidence.get(id) ?? []), file]);
  }
  return evidence;
}

function readFolder(root: string, folder: string): string[] {
  try {
    return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.includes('node_modules'))
      .map((name) => path.join(folder, name));
  } catch {
    return [];
  }
}

/**
 * Returns a link whose text is the test's last folder and name, because the whole path would make the table unreadable.
 */
function linkTo(file: string): string {
  // Escapes parentheses and brackets, which Next.js uses in folder names and which would end a Markdown link too early.
  const address = file.replace(/[()[\]]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  const name = file
    .split('/')
    .slice(-2)
    .join('/')
    .replace(/\.(test|spec)\.tsx?$/, '');
  return `[${name.replace(/[[\]]/g, '\\$&')}](../${address})`;
}

/**
 * Returns the page with its last column filled in: for each statement, the tests that name it. If no test names a
 * statement, keeps the reason that the column gives.
 */
export function fillPage(text: string, evidence: Evidence): string {
  const lines = text.split('\n').map((line) => {
    const [, id = '', statement = '', shown = ''] = rowPattern.exec(line) ?? [];
    if (id === '') return line;
    const files = evidence.get(id) ?? [];
    const last = files.length > 0 ? files.map(linkTo).join(', ') : notShown.test(shown) ? shown : '';
    return `| ${id} | ${statement} | ${last} |`;
  });
  return lines.join('\n');
}

/** Returns the faults in the page and in the names of tests, one sentence each. */
export function specificationFaults(text: string, evidence: Evidence): string[] {
  const faults: string[] = [];
  const listed = new Set<string>();
  for (const line of fillPage(text, evidence).split('\n')) {
    const [, id = '', , shown = ''] = rowPattern.exec(line) ?? [];
    if (id === '') {
      const loose = line.startsWith('|') ? line.match(idPattern)?.[0] : undefined;
      if (loose !== undefined) faults.push(`${page}: the row of ${loose} is not "| ID | statement | tests |".`);
      continue;
    }
    if (listed.has(id)) faults.push(`${page}: ${id} is listed twice.`);
    listed.add(id);
    if (shown === '') faults.push(`${page}: no test names ${id}. Add one, or write "Not shown: reason" in its row.`);
  }
  for (const [id, files] of evidence) {
    if (!listed.has(id)) faults.push(`${files.join(', ')}: ${id} is not listed in ${page}.`);
  }
  faults.push(...gapsIn(listed));
  if (faults.length === 0 && fillPage(text, evidence) !== text) {
    faults.push(`${page} does not match the names of the tests. Run npm run specification.`);
  }
  return faults;
}

/**
 * Returns the missing numbers. Statements are numbered without gaps, so every number below a listed number must be
 * listed.
 */
function gapsIn(listed: ReadonlySet<string>): string[] {
  const highest = new Map<string, number>();
  for (const id of listed) {
    const series = id.replace(/\d+$/, '');
    highest.set(series, Math.max(highest.get(series) ?? 0, Number(id.slice(series.length))));
  }
  return [...highest].flatMap(([series, last]) =>
    Array.from({ length: last }, (_, index) => `${series}${index + 1}`)
      .filter((id) => !listed.has(id))
      .map((id) => `${page}: ${id} is missing.`),
  );
}

function main(): void {
  const root = path.resolve(import.meta.dirname, '..');
  const file = path.join(root, page);
  const values = readFlags(usage, { options: { check: { type: 'boolean', default: false } } });
  const evidence = readEvidence(root);
  if (!values.check) writeFileSync(file, fillPage(readFileSync(file, 'utf8'), evidence));
  const faults = specificationFaults(readFileSync(file, 'utf8'), evidence);
  for (const fault of faults) console.log(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
