import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { executionLimits, parseExactJson } from '#protocol/executions/index.ts';
import { AgentError, sentenceOf } from '../agent-error.ts';
import { judgePlan } from '../clinic/judge-plan.ts';
import { livePlan } from '../clinic/plan-life.ts';
import { planReport } from '../clinic/plan-report.ts';
import { scoreOf } from '../clinic/report.ts';
import { killTrialProcesses } from '../clinic/trial-processes.ts';

export interface TryPlanOptions {
  parameters?: string;
  /** Secret parameters, each as `name=FILE`. */
  secret?: string[];
  /** Contents of the plan's files, each as `id=PATH`. */
  file?: string[];
  service?: string;
  twice?: boolean;
  timeoutSeconds: number;
  python?: string;
  json?: boolean;
  /** Folder in which the trial's own folder is created. */
  within?: string;
}

/** Tries a plan and prints the report. Returns whether the plan passes every check that applies. */
export async function tryPlanCommand(
  path: string,
  options: TryPlanOptions,
  environment: Record<string, string | undefined>,
  print: (line: string) => void,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const plan = planOf(path, options);
  const secrets = Object.fromEntries((options.secret ?? []).map((given) => pairOf(given, '--secret')));
  const names = typeof plan.Parameters === 'object' && plan.Parameters !== null ? Object.keys(plan.Parameters) : [];
  const twice = Object.keys(secrets).find((name) => names.includes(name));
  if (twice !== undefined) throw new AgentError(`${twice} is both a parameter of the plan and a --secret.`);
  const work = mkdtempSync(join(options.within ?? tmpdir(), 'annex-try-'));
  const leave = () => {
    remove(work);
    process.exit(130);
  };
  signal.addEventListener('abort', leave);
  try {
    const { twice: isTwice = false, timeoutSeconds, python } = options;
    const seen = await livePlan({ work, plan, secrets, isTwice, timeoutSeconds, python, environment, say });
    const checks = judgePlan(seen);
    const score = scoreOf(checks);
    const runs = seen.runs.map(({ body, ...run }) => ({ ...run, body: JSON.parse(body) as unknown }));
    const json = { score, checks, runs, reboots: seen.reboots };
    print(options.json ? JSON.stringify(json, null, 2) : planReport(basename(path), seen, checks));
    return score.passed === score.of;
  } finally {
    signal.removeEventListener('abort', leave);
    remove(work);
  }
}

function remove(work: string): void {
  killTrialProcesses('ANNEX_WORK', join(work, 'agent'));
  rmSync(work, { recursive: true, force: true, maxRetries: 10 });
}

/** Reads the plan, and applies the options to it. */
function planOf(path: string, { parameters, file = [], service }: TryPlanOptions): Record<string, unknown> {
  const bytes = read(path, 'The plan');
  if (bytes.length > executionLimits.planBytes) throw new AgentError('The plan is larger than 4 MiB.');
  const plan = objectIn(bytes.toString('utf8'), path);
  if (parameters !== undefined) {
    const isText = parameters.trimStart().startsWith('{');
    const given = objectIn(isText ? parameters : read(parameters, '--parameters').toString('utf8'), '--parameters');
    plan.Parameters = { ...(plan.Parameters as object | undefined), ...given };
  }
  if (service !== undefined) plan.Service = service;
  for (const one of file) {
    const [id, contents] = pairOf(one, '--file', 'base64');
    const files = (plan.Files ?? {}) as Record<string, { Name?: unknown }>;
    const Name = files[id]?.Name ?? id;
    plan.Files = { ...files, [id]: { Name, BodyType: 'Base64', Body: contents } };
  }
  return plan;
}

/** Splits `name=FILE` into the name and the contents of the file. Removes a trailing line break from UTF-8 text. */
function pairOf(given: string, option: string, encoding: 'utf8' | 'base64' = 'utf8'): [name: string, contents: string] {
  const at = given.indexOf('=');
  if (at < 1) throw new AgentError(`${option} is name=FILE, for example ${option} password=./password.`);
  const contents = read(given.slice(at + 1), option).toString(encoding);
  return [given.slice(0, at), encoding === 'utf8' ? contents.replace(/\r?\n$/, '') : contents];
}

function objectIn(text: string, what: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseExactJson(text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new AgentError(`${what} is not JSON: ${sentenceOf(error)}.`);
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new AgentError(`${what} must be a JSON object.`);
}

function read(path: string, what: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new AgentError(`${what} cannot be read: ${sentenceOf(error)}.`);
  }
}
