import { statSync } from 'node:fs';
import { documentLimits, type ResourceFile } from '#protocol/index.ts';
import { isText } from './is-text.ts';
import { messageFaults } from './message-faults.ts';
import type { CommandSeen, Observations, TrialStage } from './observations.ts';
import { oddSpellings } from './odd-spellings.ts';

/** The result of a check. */
export interface CheckResult {
  check: string;
  title: string;
  /** `unreached`: an earlier failure prevented the check. `none`: there is nothing to check. */
  verdict: 'passed' | 'fault' | 'unreached' | 'none';
  /** Findings, one sentence each, or why there is nothing to check. */
  found: string[];
  /** What the publisher should change. */
  toDo?: string;
}

export interface TrialLimits {
  /** Maximum time from the start of enable until a status appears, in seconds. */
  statusSeconds: number;
  /** Maximum time from the first status until a status of success or error, in seconds. */
  settleSeconds: number;
}

interface Case {
  seen: Observations;
  resources: ResourceFile[];
  limits: TrialLimits;
}

interface Check {
  check: string;
  title: string;
  /** The stage that must have succeeded for the check to pass; null if none. */
  needs: TrialStage | null;
  toDo: string;
  /** Returns the faults that were found, one sentence each. */
  faults(it: Case): string[];
  /** Returns why there is nothing to check, or null. */
  none?(it: Case): string | null;
  /** Whether an earlier fault in the same files makes the check meaningless. */
  hidden?(it: Case): boolean;
}

const own = (seen: Observations): CommandSeen[] => seen.commands.filter(({ ofPrevious }) => !ofPrevious);
const nameOf = ({ command, stage }: CommandSeen) => `${command} (${stage})`;
const lost = ({ seen }: Case) => seen.statuses.some(({ seconds, faults }) => seconds === null || faults.length > 0);

/** The checks of the contract, in the order in which their faults should be fixed. */
const checks: Check[] = [
  {
    check: 'package',
    title: 'The package is complete',
    needs: null,
    toDo: 'Put HandlerManifest.json into the root of the zip, with all seven fields, and add every program that it names.',
    faults: ({ seen }) => seen.packageFaults,
  },
  {
    check: 'previous',
    title: 'The previous version can be installed',
    needs: 'previous version',
    toDo: 'Use a different --previous. An update can only be tested from a version that works.',
    none: ({ seen }) =>
      seen.commands.some(({ ofPrevious }) => ofPrevious) ? null : 'The package was updated from itself.',
    faults: ({ seen }) =>
      seen.commands
        .filter((one) => one.ofPrevious && one.exitCode !== 0)
        .map((one) => `${nameOf(one)} of the previous version ${howItEnded(one)}.${lastLine(one)}`),
  },
  {
    check: 'times',
    title: 'Commands end within their time',
    needs: 'end',
    toDo: 'Start long-running work in the background, write the status transitioning, and let the command exit.',
    faults: ({ seen }) =>
      own(seen)
        .filter(({ timedOut }) => timedOut)
        .map((one) => `${nameOf(one)} was stopped after ${Math.round(one.seconds)} s.${lastLine(one)}`),
  },
  {
    check: 'exit-codes',
    title: 'Commands exit with 0',
    needs: 'end',
    toDo: 'Fix what the last lines report. A successful command exits with 0, even if there was nothing to do.',
    faults: ({ seen }) =>
      own(seen)
        .filter((one) => isFailed(one) && !isRepeat(one) && seen.folderGone.length === 0)
        .map((one) => `${nameOf(one)} ${howItEnded(one)}.${lastLine(one)}`),
  },
  {
    check: 'enable-again',
    title: 'Enable can run again',
    needs: 'enable again',
    toDo: 'Make enable check what already exists: it runs at each start of the agent and with each new goal state.',
    faults: ({ seen }) => [
      ...own(seen)
        .filter((one) => isFailed(one) && isRepeat(one) && seen.folderGone.length === 0)
        .map((one) => `The second enable ${howItEnded(one)}.${lastLine(one)}`),
      ...(seen.processes.twice.length > seen.processes.once.length && seen.processes.afterDisable.length === 0
        ? [
            `After the second enable ${seen.processes.twice.length} processes run, after the first ${seen.processes.once.length}.`,
          ]
        : []),
    ],
  },
  {
    check: 'folder',
    title: 'The handler keeps its folder',
    needs: 'end',
    toDo: 'Delete only what the handler created. The agent removes the folder after the uninstall.',
    faults: ({ seen }) => seen.folderGone.map((stage) => `The folder was gone after ${stage}.`),
  },
  {
    check: 'status-in-time',
    title: 'A status appears within 2 minutes',
    needs: 'install',
    toDo: 'Write <sequence number>.status into the statusFolder of HandlerEnvironment.json, starting with transitioning.',
    faults: ({ seen, limits }) =>
      seen.statuses
        .filter(({ seconds }) => seconds === null)
        .map(({ stage, file }) => `${stage}: there was no ${file} after ${limits.statusSeconds} s.`),
  },
  {
    check: 'status-valid',
    title: 'Status files can be read',
    needs: 'install',
    toDo: 'Write the whole file under a temporary name in the same folder, then rename it. docs/protocol.md shows its fields.',
    faults: ({ seen }) =>
      unique(seen.statuses.flatMap(({ file, faults }) => faults.map((fault) => `${file}: ${fault}`))),
    hidden: ({ seen }) => seen.statuses.every(({ seconds }) => seconds === null),
  },
  {
    check: 'status-form',
    title: 'Status files use the spelling of the schema',
    needs: 'install',
    toDo: 'Use this spelling. Annex accepts others too, but other agents and portals may not.',
    faults: ({ seen }) => unique(seen.statuses.flatMap(({ raw }) => oddSpellings(raw))),
    hidden: lost,
  },
  {
    check: 'settled',
    title: 'The status ends in success',
    needs: 'install',
    toDo: 'Write success or error when the work is done. If the status is error, fix its cause or use different --settings.',
    faults: ({ seen, limits }) =>
      seen.statuses
        .filter(({ document }) => document !== null && document.status !== 'success')
        .map(({ stage, document }) =>
          document?.status === 'error'
            ? `${stage}: the status is error${codeOf(document.code)}${saying(document)}.`
            : `${stage}: the status was still ${document?.status} after ${limits.settleSeconds} s.`,
        ),
    hidden: lost,
  },
  {
    check: 'heartbeat',
    title: 'The heartbeat is written, valid and renewed',
    needs: 'install',
    toDo: 'Write the heartbeatFile of HandlerEnvironment.json at least once a minute, or set reportHeartbeat: false.',
    none: ({ seen }) =>
      seen.manifest?.handlerManifest.reportHeartbeat ? null : 'The manifest has reportHeartbeat: false.',
    faults: ({ seen: { heartbeat }, limits }) => {
      if (heartbeat === null) return [];
      if (heartbeat.seconds === null) return [`There was no heartbeat after ${limits.statusSeconds} s.`];
      if (heartbeat.faults.length > 0) return heartbeat.faults;
      if (heartbeat.document?.status === 'notready') return ['The heartbeat is notready.'];
      return heartbeat.isRenewed === false ? ['The heartbeat was not written again within a minute.'] : [];
    },
  },
  {
    check: 'messages',
    title: 'Its messages match the resource files',
    needs: 'install',
    toDo: 'Add the ids to every resource file, with a placeholder for each param, or correct what the handler writes.',
    none: ({ seen, resources }) => {
      if (resources.length > 0) return null;
      const isUsed = seen.statuses.some(({ document }) => document?.message !== undefined);
      return isUsed ? 'No resource file. Add --resources messages.en.json' : 'The handler uses no message ids.';
    },
    faults: ({ seen, resources }) =>
      unique(seen.statuses.flatMap(({ document }) => messageFaults(document, resources))),
    hidden: lost,
  },
  {
    check: 'output',
    title: 'Command output is text and fits into a report',
    needs: 'end',
    toDo: 'Write long or binary output into the logFolder, and write only text that people need to stdout.',
    faults: ({ seen }) => own(seen).flatMap(outputFaults),
  },
  {
    check: 'secrets',
    title: 'Protected settings stay secret',
    needs: 'end',
    toDo: 'Keep them in variables, pass them on stdin or in a file with mode 0600 that is deleted afterwards, and never print them.',
    none: ({ seen }) => (seen.secretPlaces === null ? 'No protected settings. Add them with --settings' : null),
    faults: ({ seen }) => (seen.secretPlaces ?? []).map((place) => `A value of the protected settings is in ${place}.`),
  },
  {
    check: 'reboot',
    title: 'The handler does not reboot the machine',
    needs: 'end',
    toDo: 'Set rebootAfterInstall: true in the manifest. The agent requests the reboot when all installs are complete.',
    faults: ({ seen }) => unique(seen.reboots).map((call) => `The handler called ${call}.`),
  },
  {
    check: 'clock',
    title: 'The handler does not set the clock',
    needs: 'end',
    toDo: 'Leave the clock to the machine’s time service.',
    faults: ({ seen }) => unique(seen.clocks).map((call) => `The handler called ${call}.`),
  },
  {
    check: 'stops',
    title: 'Nothing runs after disable',
    needs: 'disable',
    toDo: 'When disable runs, end every process that install or enable started.',
    faults: ({ seen: { processes } }) =>
      (processes.afterDisable.length > 0 ? processes.afterDisable : processes.afterUninstall).map(
        (line) => `Still running: ${line}`,
      ),
  },
  {
    check: 'clean',
    title: 'Uninstall leaves only logs',
    needs: 'uninstall',
    toDo: 'In uninstall, delete everything that install and enable created outside the handler’s folder.',
    faults: ({ seen }) => seen.left.map((path) => `Still there: ${path}`),
  },
];

/** Runs every check on the observations of a trial. */
export function evaluateChecks(seen: Observations, resources: ResourceFile[], limits: TrialLimits): CheckResult[] {
  const it: Case = { seen, resources, limits };
  return checks.map((one) => resultOf(one, it));
}

function resultOf({ check, title, needs, toDo, faults, none, hidden }: Check, it: Case): CheckResult {
  if (it.seen.packageFaults.length > 0 && check !== 'package') return { check, title, verdict: 'unreached', found: [] };
  const absent = none?.(it) ?? null;
  if (absent !== null) return { check, title, verdict: 'none', found: [absent] };
  const found = hidden?.(it) ? [] : faults(it);
  if (found.length > 0) return { check, title, verdict: 'fault', found, toDo };
  const isReached = needs === null || it.seen.through.includes(needs);
  return { check, title, verdict: isReached && !hidden?.(it) ? 'passed' : 'unreached', found: [] };
}

const isFailed = ({ exitCode, timedOut }: CommandSeen) => exitCode !== 0 && !timedOut;
const isRepeat = ({ stage, command }: CommandSeen) => stage === 'enable again' && command === 'enable';

function howItEnded({ exitCode }: CommandSeen): string {
  return exitCode === null ? 'was not completed' : `exited with ${exitCode}`;
}

function lastLine({ output }: CommandSeen): string {
  const line = output.trim().split('\n').at(-1)?.slice(0, 200) ?? '';
  return line === '' ? '' : ` Its last line: ${line}`;
}

function outputFaults(one: CommandSeen): string[] {
  const bytes = statSync(one.outputFile, { throwIfNoEntry: false })?.size ?? 0;
  const faults: string[] = [];
  if (bytes > documentLimits.outputBytes) {
    const [written, fits] = [Math.ceil(bytes / 1024), documentLimits.outputBytes / 1024];
    faults.push(`${nameOf(one)} wrote ${written} KiB; a report contains only the last ${fits}.`);
  }
  if (bytes > 0 && !isText(one.outputFile)) faults.push(`${nameOf(one)} wrote something that is not text.`);
  return faults;
}

const codeOf = (code: number | undefined) => (code === undefined ? '' : ` ${code}`);

function saying({ message, formattedMessage }: NonNullable<Observations['statuses'][number]['document']>): string {
  if (message !== undefined) return `, message ${message.id} (${message.params.join(', ')})`;
  return formattedMessage === undefined ? '' : `: ${formattedMessage.message.slice(0, 200)}`;
}

function unique(list: string[]): string[] {
  return [...new Set(list)];
}
