import { spawn } from 'node:child_process';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const bin = path.join(root, 'node_modules', '.bin');

/** Static checks: name → command. All checks are read-only, so they run in parallel. */
const steps: Record<string, string[]> = {
  'format and lint': ['biome', 'check', '--error-on-warnings', '--max-diagnostics=50'],
  types: ['tsc', '--noEmit', '--pretty', 'false'],
  'import law': ['node', 'scripts/import-law.ts'],
  'writers of tables': ['node', 'scripts/table-writers.ts'],
  'dead code': ['knip', '--no-progress', '--no-config-hints'],
  'dead links': ['remark', '--quiet', '--frail', '--no-stdout', '--ignore-pattern', 'node_modules,.data', '.'],
  translations: ['node', 'scripts/check-translations.ts'],
  permissions: ['node', '--import', './server/platform/quick-imports.ts', 'scripts/permissions.ts', '--check'],
  specification: ['node', 'scripts/specification.ts', '--check'],
  migrations: ['node', 'scripts/check-migrations.ts'],
  'named tests': ['node', 'scripts/check-named-tests.ts'],
  'domain without state': ['node', 'scripts/check-domain-state.ts'],
  figures: ['node', 'scripts/figures.ts'],
  wording: ['node', 'scripts/wording.ts'],
};

interface Outcome {
  name: string;
  ok: boolean;
  output: string;
}

function run(name: string, [command = '', ...args]: string[]): Promise<Outcome> {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(path.join(bin, command), args, {
      cwd: root,
      env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}`, FORCE_COLOR: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', (error) => (output += error.message));
    child.on('close', (code) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(5);
      console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${seconds} s  ${name}`);
      resolve({ name, ok: code === 0, output: output.trim() });
    });
  });
}

const started = performance.now();
const outcomes = await Promise.all(Object.entries(steps).map(([name, command]) => run(name, command)));
const failed = outcomes.filter((outcome) => !outcome.ok);
/** A check may end its output with a line of figures. */
const figures = outcomes.flatMap(({ output }) => /^figures: (.+)$/m.exec(output)?.[1] ?? []);
for (const { name, output } of failed)
  console.log(`\n── ${name} ${'─'.repeat(Math.max(0, 76 - name.length))}\n${output}`);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`\n${figures.join('; ')}`);
console.log(`verify: ${outcomes.length - failed.length} of ${outcomes.length} checks hold (${seconds} s)`);
process.exitCode = failed.length > 0 ? 1 : 0;
