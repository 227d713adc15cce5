import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type ResourceFile, read, resourceFile } from '#protocol/index.ts';
import { AgentError, sentenceOf } from '../agent-error.ts';
import { faultSentence } from '../clinic/fault-sentence.ts';
import { liveFormula } from '../clinic/formula-life.ts';
import { formulaReport } from '../clinic/formula-report.ts';
import { judgeFormula } from '../clinic/judge-formula.ts';
import { scoreOf } from '../clinic/report.ts';
import { killTrialProcesses } from '../clinic/trial-processes.ts';

export interface TryFormulaOptions {
  settings?: string;
  /** What units of the other side set, each as `relation=JSON`. */
  remote?: string[];
  resources?: string[];
  hookSeconds: number;
  json?: boolean;
  /** Folder in which the trial's own folder is created. */
  within?: string;
}

/** Tries a formula and prints the report. Returns whether the formula passes every check that applies. */
export async function tryFormulaCommand(
  zip: string,
  options: TryFormulaOptions,
  environment: Record<string, string | undefined>,
  print: (line: string) => void,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const settings = options.settings === undefined ? {} : objectIn(options.settings, '--settings');
  const remote = Object.fromEntries((options.remote ?? []).map(remoteOf));
  const resources = (options.resources ?? []).map(resourcesIn);
  const work = mkdtempSync(join(options.within ?? tmpdir(), 'annex-try-'));
  const leave = () => {
    remove(work);
    process.exit(130);
  };
  signal.addEventListener('abort', leave);
  try {
    const trial = { work, zip: copied(zip, work), settings, remote, seconds: options.hookSeconds, environment, signal };
    const seen = await liveFormula({ ...trial, say });
    const checks = judgeFormula(seen, resources);
    const score = scoreOf(checks);
    const hooks = seen.hooks.map(({ end, ...hook }) => ({ ...hook, ...end }));
    print(
      options.json ? JSON.stringify({ score, checks, hooks }, null, 2) : formulaReport(basename(zip), seen, checks),
    );
    return score.passed === score.of;
  } finally {
    signal.removeEventListener('abort', leave);
    remove(work);
  }
}

function remove(work: string): void {
  killTrialProcesses('ENSEMBLE_CONTAINER_PATH', join(work, 'agent'));
  rmSync(work, { recursive: true, force: true, maxRetries: 10 });
}

/** Copies the package, so that it cannot change during the trial. */
function copied(zip: string, work: string): string {
  const path = join(work, 'package.zip');
  try {
    copyFileSync(zip, path);
  } catch (error) {
    throw new AgentError(`The package cannot be read: ${sentenceOf(error)}.`);
  }
  return path;
}

function remoteOf(given: string): [relation: string, settings: Record<string, unknown>] {
  const at = given.indexOf('=');
  if (at < 1) throw new AgentError(`--remote is RELATION=JSON, for example --remote 'db={ "host": "10.0.0.4" }'.`);
  return [given.slice(0, at), objectIn(given.slice(at + 1), '--remote')];
}

function resourcesIn(path: string): ResourceFile {
  const result = read(resourceFile, jsonIn(path, '--resources'));
  if ('value' in result) return result.value;
  throw new AgentError(`${path} is not a resource file: ${result.faults.slice(0, 3).map(faultSentence).join(' ')}`);
}

function objectIn(given: string, option: string): Record<string, unknown> {
  const value = jsonIn(given, option);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new AgentError(`${option} must be a JSON object, or the path of a file with one.`);
}

function jsonIn(given: string, option: string): unknown {
  try {
    return JSON.parse(given.trimStart().startsWith('{') ? given : readFileSync(given, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new AgentError(`${option}: ${sentenceOf(error)}.`);
  }
}
