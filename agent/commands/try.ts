import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { z } from 'zod';
import {
  compareVersions,
  parseHandlerId,
  parseVersion,
  type ResourceFile,
  read,
  resourceFile,
} from '#protocol/index.ts';
import { AgentError, sentenceOf } from '../agent-error.ts';
import { faultSentence } from '../clinic/fault-sentence.ts';
import { agentLayoutIn } from '../clinic/life.ts';
import { reportText, scoreOf } from '../clinic/report.ts';
import { killProcessesOf } from '../clinic/traces.ts';
import { type TrialSettings, versionBefore } from '../clinic/trial.ts';
import { type Result, tryPackage } from '../clinic/try-package.ts';
import { KeyCopies } from '../identity/key-copies.ts';
import { waagentFolderOf } from '../settings/waagent-folder.ts';

export interface TryOptions {
  previous?: string;
  resources?: string[];
  settings?: string;
  newSettings?: string;
  handler?: string;
  handlerVersion?: string;
  statusSeconds: number;
  settleSeconds: number;
  heartbeatSeconds: number;
  commandSeconds: number;
  json?: boolean;
  /** A path, or `none`. */
  waagentFolder?: string;
  /** Folder in which the trial's own folder is created. */
  within?: string;
}

const settingsInput = z.strictObject({
  publicSettings: z.record(z.string(), z.unknown()).optional(),
  protectedSettings: z.unknown().optional(),
});

/** Tries a package and prints the report. Returns whether the package passes every check that applies. */
export async function tryCommand(
  zip: string,
  options: TryOptions,
  environment: Record<string, string | undefined>,
  print: (line: string) => void,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const { handler, version } = identityOf(zip, options);
  const settings = options.settings === undefined ? {} : settingsIn(options.settings, '--settings');
  const newSettings = options.newSettings === undefined ? undefined : settingsIn(options.newSettings, '--new-settings');
  const resources = (options.resources ?? []).map(resourcesIn);
  const work = mkdtempSync(join(options.within ?? tmpdir(), 'annex-try-'));
  const waagentFolder = waagentFolderOf(options.waagentFolder ?? environment.ANNEX_AGENT_WAAGENT_FOLDER);
  const leave = () => {
    killProcessesOf(work);
    removeKeys(work, waagentFolder);
    remove(work);
    process.exit(130);
  };
  signal.addEventListener('abort', leave);
  try {
    const previous = options.previous === undefined ? undefined : previousOf(options.previous, version, work);
    const result = await tryPackage({
      work,
      zip: copied(zip, work, 'package.zip'),
      handler,
      version,
      previous,
      settings,
      newSettings,
      resources,
      patience: options,
      commandSeconds: options.commandSeconds,
      environment,
      waagentFolder,
      say,
    });
    const { passed, of } = scoreOf(result.checks);
    print(options.json ? jsonOf(handler, version, result) : reportText(`${handler} ${version}`, result));
    return passed === of;
  } finally {
    signal.removeEventListener('abort', leave);
    removeKeys(work, waagentFolder);
    remove(work);
  }
}

/** Deletes the copies of keys that the trial placed outside its folder for handlers to find. */
function removeKeys(work: string, waagentFolder: string | undefined): void {
  new KeyCopies(agentLayoutIn(work), waagentFolder).keepOnly(new Set());
}

function remove(work: string): void {
  rmSync(work, { recursive: true, force: true, maxRetries: 10 });
}

function jsonOf(handler: string, version: string, { seen, checks }: Result): string {
  const score = scoreOf(checks);
  const commands = seen.commands.map(({ outputFile: _, ...command }) => command);
  return JSON.stringify({ handler, version, score, checks: checks, commands }, null, 2);
}

/** Returns the handler and version from the options, the file name (`Acme.Lab.Probe-1.0.0.0.zip`) or the defaults. */
function identityOf(zip: string, { handler, handlerVersion }: TryOptions): { handler: string; version: string } {
  const named = /^(.+?)[-_ ]v?(\d+(?:\.\d+){0,3})\.zip$/.exec(basename(zip));
  const guess = named?.[1] !== undefined && parseHandlerId(named[1]) !== null ? named[1] : 'Clinic.Trial.Package';
  const identity = { handler: handler ?? guess, version: handlerVersion ?? named?.[2] ?? '1.0.0.0' };
  if (parseHandlerId(identity.handler) === null) {
    throw new AgentError(
      `${identity.handler} is not the name of a handler. Set --handler, for example Acme.Lab.Probe.`,
    );
  }
  if (parseVersion(identity.version) === null) {
    throw new AgentError(`${identity.version} is not a version. Set --handler-version, for example 1.0.0.0.`);
  }
  return identity;
}

/**
 * Copies the previous package. Uses the version in the file name if it is lower than `version`; otherwise makes up a
 * lower version.
 */
function previousOf(zip: string, version: string, work: string): { zip: string; version: string } {
  const named = /[-_ ]v?(\d+(?:\.\d+){0,3})\.zip$/.exec(basename(zip))?.[1];
  const isEarlier = named !== undefined && parseVersion(named) !== null && compareVersions(named, version) < 0;
  return { zip: copied(zip, work, 'previous.zip'), version: isEarlier ? named : versionBefore(version) };
}

/** Copies the package, so that it cannot change during the trial. */
function copied(zip: string, work: string, name: string): string {
  const path = join(work, name);
  try {
    copyFileSync(zip, path);
  } catch (error) {
    throw new AgentError(`The package cannot be read: ${sentenceOf(error)}.`);
  }
  return path;
}

/** Reads `{ publicSettings, protectedSettings }` from a file or a JSON string. */
function settingsIn(given: string, option: string): TrialSettings {
  const parsed = settingsInput.safeParse(jsonIn(given, option));
  if (parsed.success) return parsed.data;
  throw new AgentError(
    `${option} is { "publicSettings": { }, "protectedSettings": { } }, as JSON or as the path of a JSON file.`,
  );
}

function resourcesIn(path: string): ResourceFile {
  const result = read(resourceFile, jsonIn(path, '--resources'));
  if ('value' in result) return result.value;
  throw new AgentError(`${path} is not a resource file: ${result.faults.slice(0, 3).map(faultSentence).join(' ')}`);
}

function jsonIn(given: string, option: string): unknown {
  try {
    return JSON.parse(given.trimStart().startsWith('{') ? given : readFileSync(given, 'utf8').replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new AgentError(`${option}: ${sentenceOf(error)}.`);
  }
}
