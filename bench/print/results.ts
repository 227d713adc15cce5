import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import type pg from 'pg';
import { root } from '../deployment/deployment.ts';

/** Writes the results, with a description of the machine and the measured versions. Returns the file's path. */
export async function writeResults(
  pool: pg.Pool,
  name: string,
  results: Record<string, unknown>,
  file?: string,
): Promise<string> {
  const at = new Date().toISOString();
  const path = file ?? join(root, 'bench', 'results', `${at.slice(0, 19).replaceAll(':', '-')}-${name}.json`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ at, ...(await circumstances(pool)), ...results }, null, 2)}\n`);
  return path;
}

async function circumstances(pool: pg.Pool) {
  const { rows } = await pool.query<{ version: string }>(`select current_setting('server_version') as version`);
  const git = (...args: string[]): string =>
    spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? '';
  return {
    machine: { cpu: cpus()[0]?.model ?? '', cores: cpus().length, memoryBytes: totalmem(), os: process.platform },
    versions: { node: process.version, postgres: rows[0]?.version ?? '' },
    commit: git('rev-parse', 'HEAD'),
    // Whether the code differs from the commit.
    changed: git('status', '--porcelain', '--', 'server', 'db', 'protocol', 'bench') !== '',
  };
}
