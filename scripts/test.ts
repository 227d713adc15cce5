import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { missingForStockAgent } from '#e2e/stock-agent/requirements.ts';
import { agentPackage, cacheFolder, suiteHere } from '#e2e/stock-agent/waagent-package.ts';
import { noteOf, provideTestPrograms } from '#server/testing/programs.ts';
import {
  afterRepeat,
  explanations,
  filesToRepeat,
  lastLine,
  playwrightTotals,
  stepTotals,
  type Totals,
  vitestTotals,
} from './test-totals.ts';

const root = path.resolve(import.meta.dirname, '..');
const bin = path.join(root, 'node_modules', '.bin');
const quickImports = './server/platform/quick-imports.ts';
const playwright = './node_modules/@playwright/test/cli.js';
const reports = mkdtempSync(path.join(tmpdir(), 'annex-test-'));
const vitestReport = path.join(reports, 'vitest.json');
const playwrightReport = path.join(reports, 'playwright.json');
const stockReport = path.join(reports, 'stock-agent.json');

/** Signals that are forwarded to the running step, which cleans up and exits. The summary is still printed. */
const endings: NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

interface Step {
  name: string;
  /** If tests fail, the files with these tests are appended for a second run. */
  command: [string, ...string[]];
  env?: Record<string, string>;
  totals: (exitCode: number) => Totals;
  /**
   * Whether the step runs at the same time as the step before it. Its output is printed after the output of the step
   * before it.
   */
  isBeside?: true;
}

const steps: Step[] = [
  { name: 'verify', command: ['node', 'scripts/verify.ts'], totals: stepTotals },
  // The pages are built before the tests, because the launcher's test measures the startup time, which must not include
  // the build.
  { name: 'pages', command: ['node', 'scripts/build.ts'], totals: stepTotals },
  {
    name: 'tests',
    command: ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${vitestReport}`],
    totals: (exitCode) => vitestTotals(read(vitestReport), exitCode),
  },
  {
    name: 'journeys',
    // Playwright starts its workers with the same option.
    command: ['node', '--import', quickImports, playwright, 'test', '--reporter=list,json'],
    // Node itself loads the TypeScript files, because Babel would take ten seconds to compile them.
    env: { PLAYWRIGHT_JSON_OUTPUT_FILE: playwrightReport, PW_DISABLE_TS_ESM: '1' },
    totals: (exitCode) => playwrightTotals(read(playwrightReport), exitCode),
  },
];

const notes = (await provideTestPrograms()).map(noteOf);
const whyNoStockAgent = await stockAgentObstacle();
if (whyNoStockAgent === null) {
  steps.push({
    name: 'stock agent',
    command: [
      ...(['vitest', 'run', 'short', '--config', 'e2e/stock-agent/vitest.config.ts'] as const),
      ...['--reporter=default', '--reporter=json', `--outputFile.json=${stockReport}`],
    ],
    totals: (exitCode) => vitestTotals(read(stockReport), exitCode),
    // These tests mostly wait for the agent's own intervals, so they hardly slow down the other step.
    isBeside: true,
  });
} else notes.push(`Not tested: the real Azure Linux agent. Reason: ${whyNoStockAgent}.`);

/**
 * Returns why the tests of the real stock agent cannot run here, or null if they can. These tests require root on
 * Debian and, the first time, access to Debian's mirror.
 */
async function stockAgentObstacle(): Promise<string | null> {
  const [missing] = missingForStockAgent();
  if (missing !== undefined) return missing;
  return await agentPackage(cacheFolder, await suiteHere()).then(
    () => null,
    () => "its package could not be fetched from Debian's mirror",
  );
}

/** Reads a report and deletes it, so that a later run without a report does not get the results of this one. */
function read<Report>(file: string): Report | undefined {
  if (!existsSync(file)) return undefined;
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  rmSync(file);
  return report;
}

type Print = (text: string) => unknown;

function run({ command: [command, ...args], env, isBeside }: Step, print: Print): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(path.join(bin, command), args, {
      cwd: root,
      env: { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}`, NEXT_TELEMETRY_DISABLED: '1', ...env },
      stdio: isBeside ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => print(chunk.toString()));
    const end = (signal: NodeJS.Signals) => child.kill(signal);
    for (const signal of endings) process.on(signal, end);
    child.on('error', (error) => {
      print(`${error.message}\n`);
      resolve(127);
    });
    child.on('close', (code, signal) => {
      for (const ending of endings) process.off(ending, end);
      resolve(signal === null ? (code ?? 1) : 130);
    });
  });
}

async function totalsOf(step: Step, print: Print): Promise<Totals> {
  const first = step.totals(await run(step, print));
  const files = filesToRepeat(first);
  if (files.length === 0) return first;
  print(`\n── ${step.name}, again: ${files.join(', ')}\n`);
  return afterRepeat(first, step.totals(await run({ ...step, command: [...step.command, ...files] }, print)));
}

/** Runs a step to completion. Returns its totals and its lines in the summary. */
async function finish(step: Step, print: Print): Promise<{ totals: Totals; lines: string[] }> {
  print(`\n── ${step.name} ${'─'.repeat(76 - step.name.length)}\n`);
  const started = performance.now();
  const totals = await totalsOf(step, print);
  const seconds = ((performance.now() - started) / 1000).toFixed(0).padStart(4);
  const counted = totals.passed + totals.failed > 0 ? `${totals.passed} passed, ${totals.failed} failed` : 'ok';
  const line = `${seconds} s  ${step.name.padEnd(11)} ${counted}`;
  return { totals, lines: [line, ...explanations(totals).map((note) => `          ${note}`)] };
}

const outcomes: Awaited<ReturnType<typeof finish>>[] = [];
for (const [index, step] of steps.entries()) {
  if (step.isBeside) continue;
  const next = steps[index + 1];
  let later = '';
  const running = [finish(step, (text) => process.stdout.write(text))];
  if (next?.isBeside) running.push(finish(next, (text) => (later += text)));
  outcomes.push(...(await Promise.all(running)));
  process.stdout.write(later);
}
const summary = outcomes.flatMap(({ lines }) => lines);
const all = outcomes.map(({ totals }) => totals);
rmSync(reports, { recursive: true, force: true });

console.log(`\n── summary ${'─'.repeat(69)}\n${[...summary, ...notes].join('\n')}\n\n${lastLine(all)}`);
process.exitCode = all.some((totals) => totals.failed > 0) ? 1 : 0;
